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
  /** Wall time; undefined: until the server refuses it. */
  expiresAt?: number
}

/** What a plugin has of the terminal that sluice runs in. */
export interface PluginConsole {
  /** It is killed after this. */
  timeoutMs: number
  /** Whether it may read from the terminal: stdin is one, and nothing else reads there. */
  hasStdin: boolean
  /** What it writes to stderr, as it comes. */
  say(text: string): void
}

export interface PluginRun {
  exec: ExecConfig
  /** Whose it is. */
  user: string
  /** Goes into KUBERNETES_EXEC_INFO where the kubeconfig asks for it. */
  cluster: Record<string, unknown>
  console: PluginConsole
  signal: AbortSignal
}

const OUTPUT_LIMIT = 1 << 20
const STDERR_LIMIT = 300

/**
 * Runs a credential plugin (client.authentication.k8s.io). After its time it is killed, and its pipes are closed, so that a
 * grandchild that holds them cannot keep us.
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
  /** The end of it. */
  stderr: string
  /** Undefined where all went well. */
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
    // Not by the error's message: that has the whole command line, which may hold a secret.
    child.on('error', (error: NodeJS.ErrnoException) => end(error.code ?? error.name))
    // As kubectl does, a run waits for the end of the answer, and not for the end of stderr: a browser that the plugin has opened
    // for a login may hold stderr for hours. `setImmediate` lets in what the plugin itself has written there.
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

/** Undefined where it is no YAML, which JSON is too. The parser's own message quotes the text, which is a credential. */
function parseAnswer(stdout: string): { value: unknown } | undefined {
  try {
    return { value: parseGoYaml(stdout) }
  } catch {
    return undefined
  }
}

/** What is wrong with an answer is said without quoting it: it is a credential. */
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
