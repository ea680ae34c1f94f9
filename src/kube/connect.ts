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
  /** The most that a call may take. Absent: what each of them is given, mostly 15,000. */
  requestTimeoutMs?: number
  userAgent?: string
  clock: Clock
  random: Random
  surroundings?: Partial<Surroundings>
  /** It takes longer than one waits without a word; `what` is waited for, and for how long at most. */
  onWaiting?: (what: string) => void
  /** Absent: a plugin has no terminal, and what it says is in its error alone. */
  pluginTerminal?: PluginTerminal
}

/** The terminal that a credential plugin shares with sluice. */
export interface PluginTerminal {
  /** Somebody reads what the plugin says, and can do what it asks for. */
  isAttended: boolean
  /** stdin is a terminal, and the plugin may read from it. */
  hasStdin: boolean
  /** What the plugin says before anything else is on the screen, as it comes. */
  write(text: string): void
  /** A line that it says later, when a table may be on the screen. */
  notice(line: string): void
}

const SILENT_MS = 5_000

export interface Connection {
  client: KubeClient
  transport: Transport
  /** Asked for, else the context's, else `default`. */
  namespace: string
  server: string
  /** The file that was asked for. */
  kubeconfig: string | undefined
  /** Another server of the cluster, with the same credentials. Its caller closes it. */
  other(url: string, trust: OtherTrust): OtherServer
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
  // A renewal comes in the middle of a run, which has the screen: a question could be neither seen nor answered.
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
