/** Any program as an adapter: for each call it is started once, gets a document on stdin, and answers with one on stdout. */
import { resolve } from 'node:path'
import type { z } from 'zod'
import { AdapterError, type Json } from '../contract.ts'
import { defineAdapter, type Entry } from '../define-adapter.ts'
import { readSecret, SecretError } from '../http/secret.ts'
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
import { execOptions, type ExecOptions } from './options.ts'
import { runProgram } from './run-program.ts'

export const exec = defineAdapter<ExecOptions>({
  name: 'exec',
  summary: 'A program of your own: a JSON document on stdin, and one on stdout.',
  options: execOptions as unknown as z.ZodType<ExecOptions>,
  capabilities: ({ capabilities }) => capabilitiesOf(capabilities),
  open({ command: [file = '', ...args], env, settings: given }, { name, component, folder }) {
    const asking = { loadBalancer: name, settings: given as Json }
    const program = resolve(folder, file)

    function environment(): Record<string, string> {
      try {
        return Object.fromEntries(Object.entries(env).map(([variable, source]) => [variable, readSecret(source)]))
      } catch (error) {
        if (error instanceof SecretError) throw new AdapterError(component, 'retryable', error.message, { cause: error })
        throw error
      }
    }

    /** An answer that is none: of a list nothing has changed by it, and of an effect nobody knows. */
    async function ask<Answer>(
      request: PluginRequest,
      call: { deadlineMs: number; signal: AbortSignal; assertLive(): void },
      read: (answer: string) => Answer,
    ): Promise<Answer> {
      const input = `${JSON.stringify(request)}\n`
      const started = { file: program, args, env: environment(), cwd: folder }
      const unknown = request.call === 'list' ? 'retryable' : 'ambiguous'
      call.assertLive()
      const ended = await runProgram(started, input, call)
      if (!ended.begun) throw new AdapterError(component, 'fatal', `${program} cannot be started: ${ended.problem}`)
      const said = ended.said.trim() === '' ? '' : `; it says: ${lastLine(ended.said)}`
      if (ended.problem !== undefined) throw new AdapterError(component, unknown, `${program}: ${ended.problem}${said}`)
      try {
        return read(ended.answer)
      } catch (error) {
        if (!(error instanceof AnswerError)) throw error
        throw new AdapterError(component, unknown, `${program}: ${error.message}${said}`, { cause: error })
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
    }
  },
})

const LONGEST_SAYING = 300

function lastLine(said: string): string {
  const line = said.trim().split('\n').at(-1)!
  return line.replaceAll(/\p{C}/gu, ' ').slice(0, LONGEST_SAYING)
}
