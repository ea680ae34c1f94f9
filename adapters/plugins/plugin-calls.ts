/** The calls of a plugin, whether a program or a server answers: each is one document, and one answer. */
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
  /** Its path or URL, for messages. */
  place: string
  /** Sends a document, and gives the text of its answer. `unknown`: the kind of an error that leaves open what was done. */
  send(request: PluginRequest, call: ListCall | ChangeCall, unknown: Unknown): Promise<Answer>
}

/** A list changes nothing, so that it can be tried again. Whether a change was done is not known. */
export type Unknown = 'retryable' | 'ambiguous'

export interface Answer {
  text: string
  /** What the plugin was given, and no message may show. */
  secrets: readonly string[]
  /** The last line that it has logged, as a message may show it. */
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
