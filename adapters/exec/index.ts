/** Any program as an adapter: for each call it is started once, gets a document on stdin, and answers with one on stdout. */
import { resolve } from 'node:path'
import type { z } from 'zod'
import { AdapterError, type Json } from '../contract.ts'
import { defineAdapter } from '../define-adapter.ts'
import { readSecret, SecretError } from '../http/secret.ts'
import { capabilitiesOf } from '../plugins/options.ts'
import { pluginCalls } from '../plugins/plugin-calls.ts'
import { execOptions, type ExecOptions } from './options.ts'
import { runProgram } from './run-program.ts'

export const exec = defineAdapter<ExecOptions>({
  name: 'exec',
  summary: 'A program of your own: a JSON document on stdin, and one on stdout.',
  options: execOptions as unknown as z.ZodType<ExecOptions>,
  capabilities: ({ capabilities }) => capabilitiesOf(capabilities),
  open({ command: [file = '', ...args], env, settings: given }, { name, component, folder }) {
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
      settings: given as Json,
      async send(request, call, unknown) {
        const started = { file: program, args, env: environment(), cwd: folder }
        call.assertLive()
        const ended = await runProgram(started, `${JSON.stringify(request)}\n`, call)
        if (!ended.begun) throw new AdapterError(component, 'fatal', `${program} cannot be started: ${ended.problem}`)
        const said = ended.said.trim() === '' ? undefined : lastLine(ended.said)
        if (ended.problem === undefined) return { text: ended.answer, ...(said === undefined ? {} : { said }) }
        const more = said === undefined ? '' : `; it says: ${said}`
        throw new AdapterError(component, unknown, `${program}: ${ended.problem}${more}`)
      },
    })
  },
})

const LONGEST_SAYING = 300

function lastLine(said: string): string {
  const line = said.trim().split('\n').at(-1)!
  return line.replaceAll(/\p{C}/gu, ' ').slice(0, LONGEST_SAYING)
}
