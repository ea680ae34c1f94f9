import { execFile } from 'node:child_process'
import { z } from 'zod'
import { fieldProblem } from './field-problem.ts'
import { parseJson } from './json.ts'
import { KubeConfigError } from './kubeconfig-error.ts'

/** `users[].user.exec` of a kubeconfig. */
export const ExecConfig = z.object({
  apiVersion: z.string(),
  command: z.string().min(1),
  args: z.array(z.string()).nullish(),
  env: z.array(z.object({ name: z.string(), value: z.string() })).nullish(),
  installHint: z.string().nullish(),
  provideClusterInfo: z.boolean().nullish(),
  interactiveMode: z.enum(['Never', 'IfAvailable', 'Always']).nullish(),
})
export type ExecConfig = z.infer<typeof ExecConfig>

const ExecCredential = z.object({
  apiVersion: z.string(),
  kind: z.literal('ExecCredential'),
  status: z.object({
    token: z.string().min(1).nullish(),
    clientCertificateData: z.string().min(1).nullish(),
    clientKeyData: z.string().min(1).nullish(),
    expirationTimestamp: z.iso.datetime({ offset: true }).nullish(),
  }),
})

export interface PluginCredential {
  token?: string
  certificate?: { cert: string; key: string }
  /** Wall time; undefined: until the server refuses it. */
  expiresAt?: number
}

export interface PluginRun {
  exec: ExecConfig
  /** Whose it is. */
  user: string
  /** Goes into KUBERNETES_EXEC_INFO where the kubeconfig asks for it. */
  cluster: Record<string, unknown>
  timeoutMs: number
  signal: AbortSignal
}

const OUTPUT_LIMIT_BYTES = 1 << 20
const STDERR_LIMIT = 300

/**
 * Runs a credential plugin (client.authentication.k8s.io) without a terminal. After its time it is killed, and its
 * pipes are closed, so that a grandchild that holds them cannot keep us.
 */
export async function runExecPlugin({ exec, user, cluster, timeoutMs, signal }: PluginRun): Promise<PluginCredential> {
  const plugin = pluginName(user, exec)
  if (exec.interactiveMode === 'Always')
    throw new KubeConfigError(`${plugin} wants a terminal (interactiveMode: Always), which it gets nowhere here`)
  const info = {
    apiVersion: exec.apiVersion,
    kind: 'ExecCredential',
    spec: { interactive: false, ...(exec.provideClusterInfo === true ? { cluster } : {}) },
  }
  const env: NodeJS.ProcessEnv = { ...process.env, KUBERNETES_EXEC_INFO: JSON.stringify(info) }
  for (const { name, value } of exec.env ?? []) env[name] = value
  return readCredential(exec, plugin, await run(exec, plugin, { env, timeoutMs, signal }))
}

export function pluginName(user: string, { command }: ExecConfig): string {
  return `user ${user}: credential plugin ${command}`
}

function run(
  exec: ExecConfig,
  plugin: string,
  { env, timeoutMs, signal }: { env: NodeJS.ProcessEnv; timeoutMs: number; signal: AbortSignal },
) {
  return new Promise<string>((resolve, reject) => {
    const options = { env, signal, timeout: timeoutMs, killSignal: 'SIGKILL', maxBuffer: OUTPUT_LIMIT_BYTES } as const
    const child = execFile(exec.command, exec.args ?? [], options, (error, stdout, stderr) => {
      if (error === null) return resolve(stdout)
      // Without its cause: Node puts the whole command line in there, which may hold a secret.
      reject(new KubeConfigError(explainFailure(exec, plugin, error, stderr, timeoutMs)))
    })
    // It may be gone before it reads.
    child.stdin?.on('error', () => {})
    child.stdin?.end()
  })
}

function explainFailure(
  exec: ExecConfig,
  plugin: string,
  error: Error & { code?: unknown; killed?: boolean; signal?: unknown },
  stderr: string,
  timeoutMs: number,
): string {
  if (error.code === 'ENOENT') return `${plugin} is not installed${exec.installHint ? `: ${exec.installHint.trim()}` : ''}`
  if (error.name === 'AbortError') return `${plugin} was ended with the connection`
  if (error.killed === true)
    return `${plugin} gave nothing within ${timeoutMs / 1000} s and was killed; run it by hand to see what it waits for`
  const said = stderr.trim().slice(-STDERR_LIMIT)
  // Not by its message: that has the whole command line too.
  return `${plugin} failed (${String(error.code ?? error.signal ?? error.name)})${said === '' ? '' : `: ${said}`}`
}

/** What is wrong with an answer is said without quoting it: it is a credential. */
function readCredential(exec: ExecConfig, plugin: string, stdout: string): PluginCredential {
  const parsed = parseJson(stdout)
  const answer = ExecCredential.safeParse(parsed?.value)
  if (!answer.success) {
    const what = stdout.trim() === '' ? 'nothing' : parsed === undefined ? 'something that is no JSON' : undefined
    const problems = answer.error.issues.map((issue) => fieldProblem(issue, parsed?.value)).join('; ')
    const expected = `an ExecCredential of ${exec.apiVersion} with a token or a client certificate in its status`
    throw new KubeConfigError(
      `${plugin} gave ${what ?? `no ExecCredential (${problems})`}; it must print ${expected}: ` +
        'run it by hand to see what it says, or choose another user with --user',
    )
  }
  const { apiVersion, status } = answer.data
  if (apiVersion !== exec.apiVersion) {
    throw new KubeConfigError(`${plugin} answered with apiVersion ${apiVersion}, the kubeconfig says ${exec.apiVersion}`)
  }
  const { token, clientCertificateData: cert, clientKeyData: key, expirationTimestamp } = status
  if ((cert == null) !== (key == null) || (token == null && cert == null)) {
    throw new KubeConfigError(`${plugin} gave neither a token nor a client certificate with its key`)
  }
  return {
    ...(token == null ? {} : { token }),
    ...(cert == null || key == null ? {} : { certificate: { cert, key } }),
    ...(expirationTimestamp == null ? {} : { expiresAt: Date.parse(expirationTimestamp) }),
  }
}
