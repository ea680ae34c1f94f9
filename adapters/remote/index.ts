/** A server as an adapter. It gets the documents of a plugin as POST requests to one URL. */
import type { z } from 'zod'
import { AdapterError, type Json } from '../contract.ts'
import { defineAdapter } from '../define-adapter.ts'
import { SecretError } from '../credentials/secret.ts'
import { authorization } from '../http-client/authorization.ts'
import { createClient } from '../http-client/client.ts'
import { capabilitiesOf, documentOf } from '../plugins/options.ts'
import { pluginCalls } from '../plugins/plugin-calls.ts'
import { remoteOptions, type RemoteOptions } from './options.ts'

export const remote = defineAdapter<RemoteOptions>({
  name: 'remote',
  summary: 'A server of your own: the documents of `exec` by HTTP.',
  options: remoteOptions as unknown as z.ZodType<RemoteOptions>,
  example: { url: 'https://lb-plugin.example/edge', capabilities: { settle: '2s' } },
  capabilities: ({ capabilities }) => capabilitiesOf(capabilities),
  document: ({ capabilities }) => documentOf(capabilities),
  open({ url, auth: credentials, tls: files, settings: given }, { name, component }) {
    const client = createClient(component, { url, keepAlive: true, ...(files === undefined ? {} : { tls: files }) })
    function headers(): { sent: Record<string, string>; secrets: string[] } {
      try {
        const type = { 'Content-Type': 'application/json' }
        if (credentials === undefined) return { sent: type, secrets: [] }
        const { name: header, value, secrets = [] } = authorization(credentials)
        return { sent: { ...type, [header]: value }, secrets }
      } catch (error) {
        if (error instanceof SecretError) throw new AdapterError(component, 'retryable', error.message, { cause: error })
        throw error
      }
    }

    const calls = pluginCalls({
      component,
      place: url,
      loadBalancer: name,
      settings: given as Json,
      async send(request, call) {
        const { sent, secrets } = headers()
        const posted = { method: 'POST', path: '', headers: sent, body: JSON.stringify(request), expect: [200], secrets }
        const { text } = await client.send(posted, call, { isWrite: request.call !== 'list' })
        return { text, secrets }
      },
    })
    return { ...calls, close: () => client.close() }
  },
})
