import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { ensureKubectl } from '../cluster/binaries.ts'
import { type CommandResult, runCommand } from '../cluster/run-command.ts'
import { onPath } from '../cluster/support.ts'

/** There is a kubectl here, or it can be built. */
export const kubectlIsHere: boolean = onPath('kubectl') || onPath('go')

export interface Kubectl {
  /** Runs it to its end, whatever that is. */
  (...args: string[]): Promise<CommandResult>
  /** The same with something on its standard input. */
  withInput(input: string, ...args: string[]): Promise<CommandResult>
  /** Runs on until it is stopped. */
  start(...args: string[]): { stdout(): string; stop(): Promise<void> }
}

/** `home`: a folder for whatever it keeps. */
export async function kubectlFor(kubeconfig: string, home: string): Promise<Kubectl> {
  const program = onPath('kubectl') ? 'kubectl' : await ensureKubectl()
  const env = { PATH: process.env['PATH'], HOME: home, KUBECONFIG: kubeconfig }

  function start(...args: string[]): ReturnType<Kubectl['start']> {
    const child: ChildProcess = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
    const ended = once(child, 'exit')
    let stdout = ''
    child.stdout!.setEncoding('utf8').on('data', (text: string) => (stdout += text))
    return {
      stdout: () => stdout,
      async stop() {
        child.kill()
        await ended
      },
    }
  }

  const withInput: Kubectl['withInput'] = (input, ...args) => runCommand(program, args, { env, input, allowFailure: true })
  return Object.assign((...args: string[]) => withInput('', ...args), { withInput, start })
}
