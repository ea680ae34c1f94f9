import { isAbsolute } from 'node:path'
import { z } from 'zod'
import { secretSource } from '../credentials/secret.ts'
import { pluginCapabilities, settings } from '../plugins/options.ts'

export const execOptions = z.strictObject({
  command: z
    .array(z.string())
    .min(1, 'is empty\nname the program and its arguments, such as [./lb.py]')
    .refine(([file = '']) => file === '' || isAbsolute(file) || /^\.\.?\//.test(file), {
      message: 'names a program that is no path\nwrite its path, such as /opt/lb/drain or ./drain: PATH is not searched',
    })
    .describe('The program and its arguments. A path that begins with . is beside the config file. No shell reads it.'),
  env: z
    .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'is no name of a variable'), secretSource)
    .default({})
    .describe('Its environment: these variables, each from a file or from the environment of sluice, and no others.'),
  settings,
  capabilities: pluginCapabilities,
})

export type ExecOptions = z.output<typeof execOptions>
