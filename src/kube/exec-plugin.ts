import { spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import { z } from 'zod'
import { type ExecConfig, interactiveModeOf } from './exec-config.ts'
import { fieldProblem } from './field-problem.ts'
import { findCommand } from './find-command.ts'
import { parseGoYaml } from './go-yaml.ts'
import { KubeConfigError } from './kubeconfig-error.ts'

const text = z
  .string()
  .nullish()
  .transform((value) => value || undefined)

const ExecCredential = z.object({
  apiVersion: z.string(),
  kind: z.literal('ExecCredential'),
  status: z.object({
    token: text,
    clientCertificateData: text,
    clientKeyData: text,
    expirationTimestamp: z.iso.datetime({ offset: true }).nullish(),
  }),
})

export interface PluginCredential {
  token?: string
  certificate?: { cert: string; key: string }
  /** The expiry in wall time. If undefined, the credential is used until the server refuses it. */
  expiresAt?: number
}

/** The terminal access of a plugin. */
export interface PluginConsole {
  /** The plugin is killed after this time. */
  timeoutMs: number
  /** True if the plugin may read from the terminal: stdin is a terminal, and nothing else reads from it. */
  hasStdin: boolean
  /** Called with the plugin's stderr output as it arrives. */
  say(text: string): void
}

export interface PluginRun {
  exec: ExecConfig
  /** The user that the credential is for. */
  user: string
  /** The cluster for KUBERNETES_EXEC_INFO, if the kubeconfig asks for it. */
  cluster: Record<string, unknown>
  console: PluginConsole
  signal: AbortSignal
}

const OUTPUT_LIMIT = 1 << 20
const STDERR_LIMIT = 300

/**
 * Runs a credential plugin (client.authentication.k8s.io). At its time limit the plugin is killed and its pipes are closed, so that a
 * grandchild that holds them cannot block sluice.
 */
export async function runExecPlugin({ exec, user, cluster, console, signal }: PluginRun): Promise<PluginCredential> {
  const plugin = pluginName(user, exec)
  const mode = interactiveModeOf(exec)
  if (mode === 'Always' && !console.hasStdin)
    throw new KubeConfigError(`${plugin} wants a terminal (interactiveMode: Always), and stdin is none that it could have`)
  const interactive = mode !== 'Never' && console.hasStdin
  const info = {
    apiVersion: exec.apiVersion,
    kind: 'ExecCredential',
    spec: { interactive, ...(exec.provideClusterInfo ? { cluster } : {}) },
  }
  const env: NodeJS.ProcessEnv = { ...process.env }
  for (const { name, value } of exec.env) env[name] = value
  env['KUBERNETES_EXEC_INFO'] = JSON.stringify(info)
  const command = findCommand(exec.command, process.env['PATH'])
  const ended =
    command === undefined
      ? { stdout: '', stderr: '', why: 'ENOENT' }
      : await run({ ...exec, command }, { env, interactive, console, signal })
  if (ended.why !== undefined) throw new KubeConfigError(`${plugin} ${explain(exec, ended)}`)
  return readCredential(exec, plugin, ended.stdout)
}

export function pluginName(user: string, { command }: ExecConfig): string {
  return `user ${user}: credential plugin ${command}`
}

interface Ended {
  stdout: string
  /** The last part of stderr. */
  stderr: string
  /** The reason of a failure; undefined after a success. */
  why: string | undefined
}

function run(
  exec: ExecConfig,
  options: { env: NodeJS.ProcessEnv; interactive: boolean; console: PluginConsole; signal: AbortSignal },
): Promise<Ended> {
  const { env, interactive, console, signal } = options
  return new Promise((resolve) => {
    let stdout = ''
    let stderr = ''
    const child = spawn(exec.command, exec.args, { env, stdio: [interactive ? 'inherit' : 'ignore', 'pipe', 'pipe'] })

    function end(why: string | undefined): void {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      resolve({ stdout, stderr: stderr.trim().slice(-STDERR_LIMIT), why })
    }
    function kill(why: string): void {
      child.kill('SIGKILL')
      child.stdout.destroy()
      child.stderr.destroy()
      end(why)
    }
    const onAbort = () => kill('was ended with the connection')
    const timer = setTimeout(
      () => kill(`gave nothing within ${console.timeoutMs / 1000} s and was killed; run it by hand to see what it waits for`),
      console.timeoutMs,
    )
    if (signal.aborted) return onAbort()
    signal.addEventListener('abort', onAbort)
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      stdout += chunk
      if (stdout.length > OUTPUT_LIMIT) kill(`wrote more than ${OUTPUT_LIMIT} characters, and was killed`)
    })
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      stderr = (stderr + chunk).slice(-2 * STDERR_LIMIT)
      console.say(chunk)
    })
    // The message of the error is not used, because it contains the whole command line, which may hold a secret.
    child.on('error', (error: NodeJS.ErrnoException) => end(error.code ?? error.name))
    // As in kubectl, a run waits for the end of stdout, not of stderr: a browser that the plugin opened for a login may hold stderr open
    // for hours. `setImmediate` lets the remaining stderr output arrive.
    let exited: string | true | undefined
    let isAnswered = false
    function endOnceBoth(): void {
      if (exited === undefined || !isAnswered) return
      setImmediate(() => {
        ;(child.stderr as Socket).unref()
        end(exited === true ? undefined : exited)
      })
    }
    child.on('exit', (code, killedBy) => {
      exited = code === 0 || `failed (${code ?? killedBy})`
      endOnceBoth()
    })
    child.stdout.on('close', () => {
      isAnswered = true
      endOnceBoth()
    })
  })
}

function explain({ installHint }: ExecConfig, { why = '', stderr }: Ended): string {
  if (why === 'ENOENT') return `is not installed${installHint === '' ? '' : `: ${installHint.trim()}`}`
  const what = /^E[A-Z]+$/.test(why) ? `failed (${why})` : why
  return `${what}${stderr === '' ? '' : `: ${stderr}`}`
}

/**
 * Undefined if the text is no YAML (JSON is YAML too). The parser's message is not used, because it quotes the text, which is a credential.
 */
function parseAnswer(stdout: string): { value: unknown } | undefined {
  try {
    return { value: parseGoYaml(stdout) }
  } catch {
    return undefined
  }
}

/** Reads a credential. Error messages do not quote the answer, because it is a credential. */
function readCredential(exec: ExecConfig, plugin: string, stdout: string): PluginCredential {
  const parsed = parseAnswer(stdout)
  const answer = ExecCredential.safeParse(parsed?.value)
  if (!answer.success) {
    const what = stdout.trim() === '' ? 'nothing' : parsed === undefined ? 'something that is neither JSON nor YAML' : undefined
    const problems = answer.error.issues.map((issue) => fieldProblem(issue, parsed?.value)).join('; ')
    const expected = `an ExecCredential of ${exec.apiVersion} with a token or a client certificate in its status`
    throw new KubeConfigError(
      `${plugin} gave ${what ?? `no ExecCredential (${problems})`}; it must print ${expected}: ` +
        'run it by hand to see what it says, or choose another user',
    )
  }
  const { apiVersion, status } = answer.data
  if (apiVersion !== exec.apiVersion) {
    throw new KubeConfigError(`${plugin} answered with apiVersion ${apiVersion}, the kubeconfig says ${exec.apiVersion}`)
  }
  const { token, clientCertificateData: cert, clientKeyData: key, expirationTimestamp } = status
  if ((cert === undefined) !== (key === undefined) || (token === undefined && cert === undefined)) {
    throw new KubeConfigError(`${plugin} gave neither a token nor a client certificate with its key`)
  }
  return {
    ...(token === undefined ? {} : { token }),
    ...(cert === undefined || key === undefined ? {} : { certificate: { cert, key } }),
    ...(expirationTimestamp == null ? {} : { expiresAt: Date.parse(expirationTimestamp) }),
  }
}
