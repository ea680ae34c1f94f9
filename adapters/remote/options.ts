import { z } from 'zod'
import { auth, tls, url, urlProblem } from '../http-client/connection-fields.ts'
import { allowPlainHttp, isPlainElsewhere, PLAIN_HTTP_WAY_OUT } from '../http-client/plain-http.ts'
import { pluginCapabilities, settings } from '../plugins/options.ts'

export const remoteOptions = z
  .strictObject({
    url: url.describe('Where the documents are sent to, by POST.'),
    auth: auth.optional(),
    tls: tls.optional(),
    allowPlainHttp: allowPlainHttp.describe('true: the documents may go to another host over plain HTTP, and auth with them.'),
    settings,
    capabilities: pluginCapabilities,
  })
  .superRefine(({ url: place, auth: credentials, tls: files, allowPlainHttp: isAllowed }, context) => {
    if (urlProblem(place) !== undefined || new URL(place).protocol === 'https:') return
    if (files !== undefined)
      context.addIssue({ code: 'custom', path: ['tls'], message: 'is for an https url\nwrite https in url' })
    // The check also applies without credentials: an attacker on the network path could report a pod as drained that is not.
    if (isAllowed || !isPlainElsewhere(place)) return
    const { host } = new URL(place)
    const what = credentials === undefined ? `is plain HTTP to ${host}` : `would send credentials over plain HTTP to ${host}`
    context.addIssue({ code: 'custom', path: ['url'], message: `${what}\n${PLAIN_HTTP_WAY_OUT}` })
  })

export type RemoteOptions = z.output<typeof remoteOptions>
