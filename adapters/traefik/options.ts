import { z } from 'zod'
import { absolutePath, commandPrefix, duration, pageUrls } from '../option-fields.ts'

export const traefikOptions = z.strictObject({
  file: absolutePath
    .refine((text) => !/\.toml$/i.test(text), 'is TOML\nwrite the service into a file of YAML beside it')
    .refine((text) => /\.(ya?ml|toml)$/i.test(text), 'does not end in .yaml or .yml\nname the file of YAML that has the service')
    .describe('The file of the file provider that has the service, in YAML.'),
  service: z
    .string()
    .regex(/^[^@\s]+$/, {
      error: ({ input }) => `${JSON.stringify(input)} is no name of a service\nwrite it as in the file, without @file`,
    })
    .describe('The name under http.services in the file.'),
  api: pageUrls
    .describe('The API of each Traefik that reads the file: whether it has taken the change, and what its health checks say.')
    .optional(),
  throttle: duration.describe('providers.providersThrottleDuration of Traefik. Default 2s.').optional(),
  pollInterval: duration
    .describe(
      'providers.http.pollInterval of Traefik, which has the file by its http provider then, from sluice adapter serve. Default: Traefik ' +
        'reads the file.',
    )
    .optional(),
  settle: duration
    .describe('How long requests that are under way at a drain have to end: Traefik does not count them. Default 5s.')
    .optional(),
  prefix: commandPrefix.describe('What leads to the host of the file, such as [ssh, lb1]. Default: this host.').optional(),
  temporaryFolder: absolutePath
    .describe(
      'Where the new file is made before it takes the place of the old one: on the same file system, and not in the folder that Traefik ' +
        'watches. Default: the folder above that of the file.',
    )
    .optional(),
})

export type TraefikOptions = z.infer<typeof traefikOptions>
