/** Any program as an adapter. Each call starts the program once, sends a document to its stdin, and reads the answer from its stdout. */
import { resolve } from 'node:path'
import type { z } from 'zod'
import { AdapterError, type Json } from '../contract.ts'
import { defineAdapter } from '../define-adapter.ts'
import { oneLine } from '../credentials/one-line.ts'
import { readSecret, SecretError } from '../credentials/secret.ts'
import { capabilitiesOf, documentOf } from '../plugins/options.ts'
import { pluginCalls } from '../plugins/plugin-calls.ts'
import { execOptions, type ExecOptions } from './options.ts'
import { KEPT_SAYING, runProgram } from './run-program.ts'

export const exec = defineAdapter<ExecOptions>({
  name: 'exec',
  summary: 'A program of your own: a JSON document on stdin, and one on stdout.',
  options: execOptions as unknown as z.ZodType<ExecOptions>,
  example: { command: ['./lb.py'], capabilities: { settle: '0s' } },
  capabilities: ({ capabilities }) => capabilitiesOf(capabilities),
  document: ({ capabilities }) => documentOf(capabilities),
  open({ command: [file = '', ...args], env, settings }, { name, component, folder }) {
    const program = resolve(folder, file)

    function environment(): Record<string, string> {
      try {
        return Object.fromEntries(Object.entries(env).map(([variable, source]) => [variable, readSecret(source)]))
      } catch (error) {
        if (error instanceof SecretError) throw new AdapterError(component, 'retryable', error.message, { cause: error })
        throw error
      }
    }

    return pluginCalls({
      component,
      place: program,
      loadBalancer: name,
      settings: settings as Json,
      async send(request, call, unknown) {
        const given = environment()
        const secrets = Object.values(given)
        const started = { file: program, args, env: given, cwd: folder }
        call.assertLive()
        const ended = await runProgram(started, `${JSON.stringify(request)}\n`, call)
        if (!ended.begun) throw new AdapterError(component, 'fatal', `${program} cannot be started: ${ended.problem}`)
        const said = lastLine(ended.said, secrets)
        if (ended.problem === undefined) return { text: ended.answer, secrets, ...(said === '' ? {} : { said }) }
        const more = said === '' ? '' : `; it says: ${said}`
        throw new AdapterError(component, unknown, `${program}: ${oneLine(ended.problem, secrets)}${more}`)
      },
    })
  },
})

const LONGEST_SAYING = 300

/** The maximum number of characters for one echoed character of a secret. */
const LONGEST_ECHO = 6

/**
 * The last line of the output, shortened at its beginning. If the kept output starts in the middle of the line, it may start with a part of
 * a secret, which is left out.
 */
function lastLine(said: string, secrets: readonly string[]): string {
  const line = said.trimEnd().split('\n').at(-1)!
  const isCut = said.length === KEPT_SAYING && !said.trimEnd().includes('\n')
  const half = isCut ? LONGEST_ECHO * Math.max(0, ...secrets.map(({ length }) => length)) : 0
  const shown = oneLine(line, secrets).slice(half)
  return shown.length > LONGEST_SAYING ? `…${shown.slice(-LONGEST_SAYING)}` : shown
}
