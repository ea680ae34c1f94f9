import { z } from 'zod'
import { absolutePath, commandPrefix, duration, pageUrl, pageUrls } from '../option-fields.ts'

export const envoyOptions = z
  .strictObject({
    file: absolutePath.describe('The file of EDS, as path_config_source names it to Envoy: YAML or JSON.'),
    prefix: commandPrefix.describe('What leads to the host of the file, such as [ssh, lb1]. Default: this host.').optional(),
    cluster: z
      .string()
      .min(1, 'is empty\nwrite the cluster_name that the file has')
      .describe(
        'The cluster_name in the file: the service_name of eds_cluster_config, or the name of the cluster where it has none.',
      ),
    admin: pageUrls
      .describe('The admin interface of each Envoy that reads the file: whether it has taken the change, and what is in flight.')
      .optional(),
    server: z
      .strictObject({
        url: pageUrl.describe('Where sluice adapter serve listens.'),
        nodes: z
          .array(z.string().min(1, 'is empty\nwrite the node.id of an Envoy'))
          .min(1, 'is an empty list\nname the node.id of each Envoy')
          .refine((ids) => new Set(ids).size === ids.length, 'names an Envoy twice\nname each node.id once')
          .describe('The node.id of each Envoy that asks there: all of them, and others that ask, must have taken a drain.'),
      })
      .describe('Without admin: the management server that the Envoys ask, which knows what each has taken.')
      .optional(),
    refreshDelay: duration
      .describe('refresh_delay of Envoys that ask a server: for so long more a change is waited for. Default 0s.')
      .optional(),
    settle: duration
      .describe(
        'Without admin: how long after a drain until every Envoy has taken it, and requests under way have ended. Default 5s.',
      )
      .optional(),
    temporaryFolder: absolutePath
      .describe('Where the new file is made before it takes the place of the old one. Default: the folder of the file.')
      .optional(),
  })
  .refine(({ admin, server }) => admin === undefined || server === undefined, {
    path: ['server'],
    message:
      'goes without admin\nremove it: the admin interface tells what each Envoy has taken, wherever it has its endpoints from',
  })
  .refine(({ admin, settle }) => admin === undefined || settle === undefined, {
    path: ['settle'],
    message: 'goes without admin\nremove it: with admin, a change is waited for until every Envoy shows it',
  })

export type EnvoyOptions = z.infer<typeof envoyOptions>
