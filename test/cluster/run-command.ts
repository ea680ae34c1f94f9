import { spawn } from 'node:child_process'
import type { SpawnOptions } from 'node:child_process'

export interface CommandResult {
  code: number
  stdout: string
  stderr: string
}

export interface CommandOptions {
  env?: NodeJS.ProcessEnv
  cwd?: string
  input?: string
  timeoutMs?: number
  /** Returns a non-zero exit code instead of throwing. */
  allowFailure?: boolean
}

/** Runs a command to its end, and collects its output. */
export function runCommand(command: string, args: readonly string[], options: CommandOptions = {}): Promise<CommandResult> {
  const { promise, resolve, reject } = Promise.withResolvers<CommandResult>()
  const spawnOptions: SpawnOptions = { stdio: ['pipe', 'pipe', 'pipe'] }
  if (options.env !== undefined) spawnOptions.env = options.env
  if (options.cwd !== undefined) spawnOptions.cwd = options.cwd
  const child = spawn(command, args, spawnOptions)
  const timeoutMs = options.timeoutMs ?? 60_000
  const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs)
  let stdout = ''
  let stderr = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  child.on('error', (cause) => {
    clearTimeout(timer)
    reject(new Error(`cannot run ${command}`, { cause }))
  })
  child.on('close', (code, signal) => {
    clearTimeout(timer)
    if (code === 0 || (options.allowFailure === true && signal === null)) {
      resolve({ code: code ?? -1, stdout, stderr })
      return
    }
    const how = signal === null ? `exit code ${code}` : `ended by ${signal} (allowed ${timeoutMs} ms)`
    reject(new Error(`${command} ${args.join(' ')}: ${how}\n${stderr || stdout}`))
  })
  child.stdin?.on('error', () => {}) // it may end without reading its input
  child.stdin?.end(options.input ?? '')
  return promise
}
