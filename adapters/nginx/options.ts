import { z } from 'zod'
import { show } from '../../src/config/show.ts'
import { absolutePath, commandPrefix, duration } from '../option-fields.ts'

const command = z
  .array(z.string().regex(/^[^\0]+$/, 'has an empty word\nremove it'))
  .min(1, 'is an empty list\nwrite the program and its arguments, such as [nginx, -t]')

const host = z.strictObject({
  name: z
    .string()
    .regex(/^[A-Za-z0-9_.-]+$/, {
      error: ({ input }) => `${show(input)} cannot be the name of a host\nuse letters, digits and any of _ . -`,
    })
    .describe('What messages and records call it.'),
  prefix: commandPrefix.describe('What leads to it, such as [ssh, lb1]; the shell of a script follows.'),
})

export const nginxOptions = z.strictObject({
  file: absolutePath.describe('The file with the servers: one that is included, or the whole configuration.'),
  upstream: z
    .string()
    .regex(/^[^\s;{}"'\\#\0]+$/, {
      error: ({ input }) => `${show(input)} cannot be the name of an upstream\nwrite the word that follows upstream in the file`,
    })
    .describe(
      'The upstream block whose servers are the pods. Default: the file has the servers alone, and is included in the block.',
    )
    .optional(),
  hosts: z
    .array(host)
    .min(1, 'is an empty list\nremove it for an nginx on this host, or name the hosts')
    .refine((hosts) => repeated(hosts) === undefined, {
      error: ({ input }) => `names ${show(repeated(input as { name: string }[]))} twice\ngive each host a name of its own`,
    })
    .describe('Where nginx runs, each with the same file: a pod is drained on all of them. Default: this host.')
    .optional(),
  pidFile: absolutePath
    .default('/run/nginx.pid')
    .describe('The file with the process id of nginx, as its directive pid names it.'),
  test: command.default(['nginx', '-t']).describe('Tells by its exit code whether nginx would take its configuration.'),
  reload: command.default(['nginx', '-s', 'reload']).describe('Has nginx load its configuration.'),
  word: z
    .enum(['down', 'drain'], {
      error: ({ input }) => `${show(input)} takes no server out\nwrite down, or drain from nginx 1.31 on`,
    })
    .default('down')
    .describe(
      'What takes a server out. With drain (nginx 1.31 or later) clients that a sticky cookie binds to it still reach it.',
    ),
  settle: duration
    .default('5s')
    .describe('How long requests that are under way at a drain have to end: nginx does not count them.'),
})

export type NginxOptions = z.infer<typeof nginxOptions>

function repeated(hosts: readonly { name: string }[]): string | undefined {
  return hosts.find(({ name }, index) => hosts.findIndex((other) => other.name === name) < index)?.name
}
