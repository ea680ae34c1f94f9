import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { ensureKubectl } from '../cluster/binaries.ts'
import { type CommandResult, runCommand } from '../cluster/run-command.ts'
import { onPath } from '../cluster/support.ts'

/** True where kubectl is installed or can be built. */
export const kubectlIsHere: boolean = onPath('kubectl') || onPath('go')

export interface Kubectl {
  /** Runs kubectl to its end, and returns any result. */
  (...args: string[]): Promise<CommandResult>
  /** Runs kubectl with a text on its standard input. */
  withInput(input: string, ...args: string[]): Promise<CommandResult>
  /** Starts kubectl, which runs until it is stopped. */
  start(...args: string[]): { stdout(): string; stop(): Promise<void> }
}

/** Returns a kubectl. `home` is the folder for its files. */
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
