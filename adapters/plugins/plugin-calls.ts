/** The calls of a plugin, in a program or a server. Each call is one request document and one answer. */
import { AdapterError } from '../contract.ts'
import type { ChangeCall, Entry, ListCall, LoadBalancerCalls } from '../define-adapter.ts'
import { createLiner } from '../credentials/one-line.ts'
import {
  AnswerError,
  type Asking,
  drainRequest,
  listRequest,
  type PluginRequest,
  type Reading,
  readEntries,
  readResults,
  restoreRequest,
} from './documents.ts'

export interface Plugin extends Asking {
  component: string
  /** The path or URL of the plugin, for messages. */
  place: string
  /** Sends a document and gives the text of the answer. `unknown` is the kind of an error with an unknown outcome. */
  send(request: PluginRequest, call: ListCall | ChangeCall, unknown: Unknown): Promise<Answer>
}

/** The kind of an error with an unknown outcome: `retryable` for a list, which changes nothing, and `ambiguous` for a change. */
export type Unknown = 'retryable' | 'ambiguous'

export interface Answer {
  text: string
  /** Secrets that the plugin got. No message may show them. */
  secrets: readonly string[]
  /** The last line of the plugin's log, prepared for a message. */
  said?: string
}

export function pluginCalls({
  component,
  place,
  send,
  ...asking
}: Plugin): Pick<LoadBalancerCalls, 'list' | 'drain' | 'restore'> {
  async function ask<Read>(
    request: PluginRequest,
    call: ListCall | ChangeCall,
    read: (answer: string, reading: Reading) => Read,
  ): Promise<Read> {
    const unknown = request.call === 'list' ? 'retryable' : 'ambiguous'
    const { text, secrets, said } = await send(request, call, unknown)
    try {
      return read(text, { component, show: createLiner(secrets) })
    } catch (error) {
      if (!(error instanceof AnswerError)) throw error
      const more = said === undefined ? '' : `; it says: ${said}`
      throw new AdapterError(component, unknown, `${place}: ${error.message}${more}`, { cause: error })
    }
  }

  const resultsFor = (entries: readonly Entry[]) => (answer: string, reading: Reading) => readResults(answer, reading, entries)

  return {
    list: (call) => ask(listRequest(asking, call.deadlineMs), call, readEntries),
    drain: (entries, call) => ask(drainRequest(asking, entries, call), call, resultsFor(entries)),
    restore: (formers, call) => ask(restoreRequest(asking, formers, call), call, resultsFor(formers.map(({ entry }) => entry))),
  }
}
