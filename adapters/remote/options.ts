import { isIP } from 'node:net'
import { z } from 'zod'
import { auth, tls, urlProblem } from '../http-client/connection-fields.ts'
import { pluginCapabilities, settings } from '../plugins/options.ts'

function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '')
  return bare === 'localhost' || bare === '::1' || (isIP(bare) === 4 && bare.startsWith('127.'))
}

export const remoteOptions = z
  .strictObject({
    url: z
      .string()
      .refine((text) => urlProblem(text) === undefined, { error: ({ input }) => urlProblem(String(input)) ?? '' })
      .describe('Where the documents are sent to, by POST.'),
    auth: auth.optional(),
    tls: tls.optional(),
    settings,
    capabilities: pluginCapabilities,
  })
  .superRefine(({ url, auth: credentials, tls: files }, context) => {
    if (urlProblem(url) !== undefined) return
    const { protocol, hostname } = new URL(url)
    if (protocol === 'https:') return
    if (files !== undefined)
      context.addIssue({ code: 'custom', path: ['tls'], message: 'is for an https url\nwrite https in url' })
    if (isLoopback(hostname)) return
    const what =
      credentials === undefined ? 'is plain HTTP to another host' : 'would send credentials over plain HTTP to another host'
    context.addIssue({ code: 'custom', path: ['url'], message: `${what}\nwrite https, or a loopback address` })
  })

export type RemoteOptions = z.output<typeof remoteOptions>
