import type { Clock } from '../ports/clock.ts'
import type { Random } from '../ports/random.ts'
import { checkAuthority, trustOf } from './certificate-authority.ts'
import { checkClientCertificate } from './client-certificate.ts'
import type { KubeClient } from './client.ts'
import { type AccessOptions, resolveClusterAccess, type Surroundings } from './cluster-access.ts'
import { createCredentials, EXEC_TIMEOUT_MS } from './credentials.ts'
import { pluginName } from './exec-plugin.ts'
import { createKubeClient } from './kube-client.ts'
import { createPooledTransport } from './pooled-transport.ts'
import type { Transport } from './transport.ts'

export { KubeConfigError } from './kubeconfig-error.ts'

export interface ConnectOptions extends AccessOptions {
  /** The most that a call may take. Absent: what each of them is given, mostly 15,000. */
  requestTimeoutMs?: number
  userAgent?: string
  clock: Clock
  random: Random
  surroundings?: Partial<Surroundings>
  /** It takes longer than one waits without a word; `what` is waited for, and for how long at most. */
  onWaiting?: (what: string) => void
}

const SILENT_MS = 5_000

export interface Connection {
  client: KubeClient
  transport: Transport
  /** Asked for, else the context's, else `default`. */
  namespace: string
  server: string
  close(): Promise<void>
}

/**
 * The way to a cluster, by the same files and flags as kubectl. Gets the credentials once, so that a missing plugin
 * or token is a KubeConfigError here and not a failed call later; says nothing about the server.
 */
export async function connect(options: ConnectOptions): Promise<Connection> {
  const { clock, random } = options
  const access = resolveClusterAccess(options, options.surroundings)
  checkAuthority(access)
  const credentials = createCredentials({ access, clock })
  const { exec, user } = access
  const limit = `${EXEC_TIMEOUT_MS / 1000} s at most`
  const timer = clock.setTimeout(() => {
    if (exec !== undefined) options.onWaiting?.(`${pluginName(user.name, exec)} is waited for, ${limit}`)
  }, SILENT_MS)
  const { tls } = await credentials.current().finally(() => clock.clearTimeout(timer))
  checkClientCertificate(access, tls)
  const transport = createPooledTransport({
    server: access.server,
    credentials,
    proxyUrl: access.proxyUrl,
    trust: trustOf(access),
  })
  const client = createKubeClient({
    transport,
    clock,
    random,
    ...(options.requestTimeoutMs === undefined ? {} : { requestTimeoutMs: options.requestTimeoutMs }),
    ...(options.userAgent === undefined ? {} : { userAgent: options.userAgent }),
  })
  return { client, transport, namespace: access.namespace, server: access.server, close: () => transport.close() }
}
