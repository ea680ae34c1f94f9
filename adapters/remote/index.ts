/** A server as an adapter: the documents of a plugin, each as a POST to one URL. */
import type { z } from 'zod'
import { AdapterError, type Json } from '../contract.ts'
import { type ChangeCall, defineAdapter, type Entry, type ListCall } from '../define-adapter.ts'
import { createClient } from '../http/client.ts'
import { authMakers } from '../http/request.ts'
import { SecretError } from '../http/secret.ts'
import {
  AnswerError,
  drainRequest,
  listRequest,
  type PluginRequest,
  readEntries,
  readResults,
  restoreRequest,
} from '../plugins/documents.ts'
import { capabilitiesOf } from '../plugins/options.ts'
import { remoteOptions, type RemoteOptions } from './options.ts'

export const remote = defineAdapter<RemoteOptions>({
  name: 'remote',
  summary: 'A server of your own: the documents of `exec` by HTTP.',
  options: remoteOptions as unknown as z.ZodType<RemoteOptions>,
  capabilities: ({ capabilities }) => capabilitiesOf(capabilities),
  open({ url, auth: credentials, tls: files, settings: given }, { name, component }) {
    const asking = { loadBalancer: name, settings: given as Json }
    const client = createClient(component, { url, keepAlive: true, ...(files === undefined ? {} : { tls: files }) })
    const makers = authMakers(credentials)

    function headers(): { sent: Record<string, string>; secrets: string[] } {
      try {
        const made = makers.map((make) => make({}))
        const sent = Object.fromEntries(made.map(({ name: header, value }) => [header, value]))
        return { sent: { 'Content-Type': 'application/json', ...sent }, secrets: made.flatMap(({ secrets = [] }) => secrets) }
      } catch (error) {
        if (error instanceof SecretError) throw new AdapterError(component, 'retryable', error.message, { cause: error })
        throw error
      }
    }

    /** An answer that is none: of a list nothing has changed by it, and of an effect nobody knows. */
    async function ask<Answer>(
      request: PluginRequest,
      call: ListCall | ChangeCall,
      read: (answer: string) => Answer,
    ): Promise<Answer> {
      const isWrite = request.call !== 'list'
      const { sent, secrets } = headers()
      const body = JSON.stringify(request)
      const answer = await client.send({ method: 'POST', path: '', headers: sent, body, expect: [200], secrets }, call, {
        isWrite,
      })
      try {
        return read(answer.text)
      } catch (error) {
        if (!(error instanceof AnswerError)) throw error
        throw new AdapterError(component, isWrite ? 'ambiguous' : 'retryable', `${url}: ${error.message}`, { cause: error })
      }
    }

    return {
      list: (call) => ask(listRequest(asking, call.deadlineMs), call, (answer): Entry[] => readEntries(answer, component)),
      drain: (entries, call) =>
        ask(drainRequest(asking, entries, call), call, (answer) => readResults(answer, component, entries)),
      restore: (formers, call) =>
        ask(restoreRequest(asking, formers, call), call, (answer) =>
          readResults(
            answer,
            component,
            formers.map(({ entry }) => entry),
          ),
        ),
      close: () => client.close(),
    }
  },
})
