import type { Clock } from '../ports/clock.ts'
import type { Random } from '../ports/random.ts'
import { checkAuthority, trustOf } from './certificate-authority.ts'
import { checkClientCertificate } from './client-certificate.ts'
import type { KubeClient } from './client.ts'
import { type AccessOptions, resolveClusterAccess, type Surroundings } from './cluster-access.ts'
import { ATTENDED_PLUGIN_MS, createCredentials, UNATTENDED_PLUGIN_MS } from './credentials.ts'
import { type PluginConsole, pluginName } from './exec-plugin.ts'
import { createKubeClient } from './kube-client.ts'
import { createOtherServer, type OtherServer, type OtherTrust } from './other-server.ts'
import { createPooledTransport } from './pooled-transport.ts'
import type { Transport } from './transport.ts'

export { KubeConfigError } from './kubeconfig-error.ts'

export interface ConnectOptions extends AccessOptions {
  /** Maximum duration of a call in milliseconds. If absent, each call has its own default, mostly 15,000. */
  requestTimeoutMs?: number
  userAgent?: string
  clock: Clock
  random: Random
  surroundings?: Partial<Surroundings>
  /** Called when a step takes long; `what` names the step and its maximum duration. */
  onWaiting?: (what: string) => void
  /** If absent, a plugin has no terminal, and its output is in its error only. */
  pluginTerminal?: PluginTerminal
}

/** The terminal that a credential plugin shares with sluice. */
export interface PluginTerminal {
  /** True if a person reads the plugin's output and can react to it. */
  isAttended: boolean
  /** True if stdin is a terminal, and the plugin may read from it. */
  hasStdin: boolean
  /** Writes the plugin's output while nothing else is on the screen. */
  write(text: string): void
  /** Shows a line of the plugin's output later, when a table may be on the screen. */
  notice(line: string): void
}

const SILENT_MS = 5_000

export interface Connection {
  client: KubeClient
  transport: Transport
  /** The requested namespace, else that of the context, else `default`. */
  namespace: string
  server: string
  /** The kubeconfig file that the caller named. */
  kubeconfig: string | undefined
  /** Another server of the cluster, with the same credentials. The caller closes it. */
  other(url: string, trust: OtherTrust): OtherServer
  close(): Promise<void>
}

/**
 * Connects to a cluster by the files and flags of kubectl. Fetches the credentials once, so that a missing plugin or token gives a
 * KubeConfigError here instead of a failed call later. The server is not contacted.
 */
export async function connect(options: ConnectOptions): Promise<Connection> {
  const { clock, random } = options
  const access = resolveClusterAccess(options, options.surroundings)
  checkAuthority(access)
  const { exec, user } = access
  const { pluginTerminal: terminal, onWaiting } = options
  const timeoutMs = terminal?.isAttended ? ATTENDED_PLUGIN_MS : UNATTENDED_PLUGIN_MS
  const atFirst: PluginConsole = {
    timeoutMs,
    hasStdin: terminal?.hasStdin ?? false,
    say: (text) => {
      clock.clearTimeout(timer)
      terminal?.write(text)
    },
  }
  // A renewal happens during a run, which uses the screen; a question of the plugin would be invisible and without an answer.
  const later: PluginConsole = {
    timeoutMs,
    hasStdin: false,
    say: (text) => {
      for (const line of text.split('\n')) if (line.trim() !== '') terminal?.notice(line.trimEnd())
    },
  }
  let pluginConsole = atFirst
  const credentials = createCredentials({ access, clock, pluginConsole: () => pluginConsole })
  const timer = clock.setTimeout(() => {
    if (exec !== undefined) onWaiting?.(`${pluginName(user.name, exec)} is waited for, ${timeoutMs / 1000} s at most`)
  }, SILENT_MS)
  const { tls } = await credentials.current().finally(() => clock.clearTimeout(timer))
  pluginConsole = later
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
  const { namespace, server } = access
  const { userAgent = 'sluice' } = options
  return {
    client,
    transport,
    namespace,
    server,
    kubeconfig: options.kubeconfig,
    other: (url, trust) => createOtherServer({ url, trust, credentials, clock, userAgent }),
    close: () => transport.close(),
  }
}
