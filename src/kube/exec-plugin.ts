import { execFile } from 'node:child_process'
import { z } from 'zod'
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
export async function runExecPlugin({ exec, cluster, timeoutMs, signal }: PluginRun): Promise<PluginCredential> {
  if (exec.interactiveMode === 'Always') {
    throw new KubeConfigError(
      `credential plugin ${exec.command} wants a terminal (interactiveMode: Always), which it gets nowhere here`,
    )
  }
  const info = {
    apiVersion: exec.apiVersion,
    kind: 'ExecCredential',
    spec: { interactive: false, ...(exec.provideClusterInfo === true ? { cluster } : {}) },
  }
  const env: NodeJS.ProcessEnv = { ...process.env, KUBERNETES_EXEC_INFO: JSON.stringify(info) }
  for (const { name, value } of exec.env ?? []) env[name] = value
  return readCredential(exec, await run(exec, { env, timeoutMs, signal }))
}

function run(exec: ExecConfig, { env, timeoutMs, signal }: { env: NodeJS.ProcessEnv; timeoutMs: number; signal: AbortSignal }) {
  return new Promise<string>((resolve, reject) => {
    const options = { env, signal, timeout: timeoutMs, killSignal: 'SIGKILL', maxBuffer: OUTPUT_LIMIT_BYTES } as const
    const child = execFile(exec.command, exec.args ?? [], options, (error, stdout, stderr) => {
      if (error === null) return resolve(stdout)
      // Without its cause: Node puts the whole command line in there, which may hold a secret.
      reject(new KubeConfigError(explainFailure(exec, error, stderr, timeoutMs)))
    })
    // It may be gone before it reads.
    child.stdin?.on('error', () => {})
    child.stdin?.end()
  })
}

function explainFailure(
  exec: ExecConfig,
  error: Error & { code?: unknown; killed?: boolean },
  stderr: string,
  timeoutMs: number,
): string {
  const plugin = `credential plugin ${exec.command}`
  if (error.code === 'ENOENT') return `${plugin} is not installed${exec.installHint ? `: ${exec.installHint.trim()}` : ''}`
  if (error.name === 'AbortError') return `${plugin} was ended with the connection`
  if (error.killed === true)
    return `${plugin} gave nothing within ${timeoutMs / 1000} s and was killed; run it by hand to see what it waits for`
  const said = stderr.trim().slice(-STDERR_LIMIT)
  return `${plugin} failed (${String(error.code ?? error.message)})${said === '' ? '' : `: ${said}`}`
}

/** What is wrong with an answer is said without quoting it: it is a credential. */
function readCredential(exec: ExecConfig, stdout: string): PluginCredential {
  const plugin = `credential plugin ${exec.command}`
  const answer = ExecCredential.safeParse(parseJson(stdout)?.value)
  if (!answer.success) {
    const where = answer.error.issues.map(({ path }) => path.join('.') || 'the whole').join(', ')
    throw new KubeConfigError(`${plugin} gave no valid ExecCredential (see ${where})`)
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
