import type { Clock } from '../ports/clock.ts'
import type { ClusterAccess } from './cluster-access.ts'
import type { Credential, Credentials, TlsIdentity } from './credential.ts'
import { describeCause } from './describe-cause.ts'
import type { ExecConfig } from './exec-config.ts'
import { type PluginConsole, type PluginCredential, runExecPlugin } from './exec-plugin.ts'
import { readIdToken } from './id-token.ts'
import { impersonationHeaders } from './impersonation.ts'
import { KubeConfigError } from './kubeconfig-error.ts'
import { readNamedFile } from './read-named-file.ts'
import { createRenewable, type Renewable } from './renewable.ts'

export interface CredentialsOptions {
  access: ClusterAccess
  clock: Clock
  /** What a plugin has of a terminal when it is run. Default: nothing. */
  pluginConsole?: () => PluginConsole
}

export const UNATTENDED_PLUGIN_MS = 60_000
/** A person may have to find a phone, and a password, first. */
export const ATTENDED_PLUGIN_MS = 600_000
const NO_CONSOLE: PluginConsole = { timeoutMs: UNATTENDED_PLUGIN_MS, hasStdin: false, say: () => {} }
/** A rotated token file holds a new token long before the old one ends. */
const TOKEN_FILE_FRESH_MS = 10_000

/** Files are read at every request, so that renewed ones are seen. */
export function createCredentials({ access, clock, pluginConsole = () => NO_CONSOLE }: CredentialsOptions): Credentials {
  const impersonated = impersonationHeaders(access.impersonation)
  const closing = new AbortController()
  const secret = renewableSecret(access, clock, pluginConsole, closing.signal)
  const issued = new WeakMap<Credential, PluginCredential>()
  let loading: Promise<Credential> | undefined

  async function load(): Promise<Credential> {
    const tls = tlsIdentity(access)
    const renewed = await secret?.get()
    const { cert = tls.cert, key = tls.key } = renewed?.certificate ?? {}
    const credential: Credential = {
      tls: { ...tls, cert, key },
      headers: { ...authorization(renewed?.token, access), ...impersonated },
    }
    if (renewed !== undefined) issued.set(credential, renewed)
    return credential
  }

  return {
    // Shared while it is under way, so that no plugin runs twice at once.
    current() {
      loading ??= load().finally(() => {
        loading = undefined
      })
      return loading
    },
    accepted(credential) {
      const used = issued.get(credential)
      if (used !== undefined) secret?.accepted(used)
    },
    refused(credential) {
      const used = issued.get(credential)
      return used !== undefined && secret?.refused(used) === true
    },
    close: () => closing.abort(),
  }
}

function renewableSecret(
  access: ClusterAccess,
  clock: Clock,
  pluginConsole: () => PluginConsole,
  signal: AbortSignal,
): Renewable<PluginCredential> | undefined {
  const { exec, user } = access
  const { tokenFile, token } = user
  // As kubectl does it: a secret is not sent where everybody could read it.
  if (isPlain(access)) return undefined
  if (tokenFile !== undefined) {
    return createRenewable({
      clock,
      fetch: () => readTokenFile(tokenFile, access),
      isFresh: (_secret, ageMs) => ageMs < TOKEN_FILE_FRESH_MS,
      // Not everybody who renews a file does so in one step.
      outlivesFailure: true,
    })
  }
  // The expiry is an instant of the cluster's clock, so ours decides only when to renew early: a 401 also renews.
  const isFresh = ({ expiresAt }: PluginCredential): boolean => expiresAt === undefined || clock.wallNow() < expiresAt
  if (exec !== undefined) {
    return createRenewable({ clock, fetch: () => runPlugin(exec, access, pluginConsole(), signal), isFresh })
  }
  if (user['auth-provider'] === undefined || token !== undefined || user.username !== undefined) return undefined
  return createRenewable({ clock, fetch: async () => readIdToken(access, clock), isFresh, outlivesFailure: true })
}

function isPlain({ server }: ClusterAccess): boolean {
  return server.startsWith('http:')
}

async function readTokenFile(tokenFile: string, access: ClusterAccess): Promise<PluginCredential> {
  const fail = (why: string, cause?: unknown) =>
    new KubeConfigError(`token file ${tokenFile} of user ${access.user.name} ${why}`, { ...access, cause })
  let token: string
  try {
    token = readNamedFile(tokenFile).toString('utf8').trim()
  } catch (error) {
    if (access.user.token !== undefined) return { token: access.user.token }
    throw fail(`cannot be read: ${describeCause(error)}`, error)
  }
  // Going on without would be going on as system:anonymous.
  if (token === '') throw fail('is empty')
  return { token }
}

async function runPlugin(
  exec: ExecConfig,
  access: ClusterAccess,
  pluginConsole: PluginConsole,
  signal: AbortSignal,
): Promise<PluginCredential> {
  return runExecPlugin({ exec, user: access.user.name, cluster: execCluster(access), console: pluginConsole, signal })
}

/** `spec.cluster` of an ExecCredential. */
function execCluster({ cluster, server, execExtension }: ClusterAccess): Record<string, unknown> {
  return {
    server,
    'tls-server-name': cluster['tls-server-name'],
    'insecure-skip-tls-verify': cluster['insecure-skip-tls-verify'] || undefined,
    'certificate-authority-data': partOf(cluster['certificate-authority'], cluster['certificate-authority-data'])?.toString(
      'base64',
    ),
    // What the environment says the plugin sees for itself.
    'proxy-url': cluster['proxy-url'],
    config: execExtension,
  }
}

function tlsIdentity(access: ClusterAccess): TlsIdentity {
  // Said outright: NODE_TLS_REJECT_UNAUTHORIZED must not decide whom we trust.
  const { cluster, user } = access
  const rejectUnauthorized = !cluster['insecure-skip-tls-verify']
  if (isPlain(access)) return { rejectUnauthorized }
  try {
    return {
      ca: partOf(cluster['certificate-authority'], cluster['certificate-authority-data']),
      cert: partOf(user['client-certificate'], user['client-certificate-data']),
      key: partOf(user['client-key'], user['client-key-data']),
      servername: cluster['tls-server-name'],
      rejectUnauthorized,
    }
  } catch (error) {
    throw new KubeConfigError(`credentials of user ${user.name}: ${describeCause(error)}`, { ...access, cause: error })
  }
}

/** What a field has as its data, or in its file. */
function partOf(file: string | undefined, data: Buffer | undefined): Buffer | undefined {
  return data ?? (file === undefined ? undefined : readNamedFile(file))
}

/** What a header cannot carry, the transport would refuse in words that name no place. */
const OUTSIDE_HEADERS = /[^\t\u0020-\u007e\u0080-\u00ff]/

function authorization(renewed: string | undefined, access: ClusterAccess): Record<string, string> {
  const { user, files, exec } = access
  const { username, password, tokenFile } = user
  if (isPlain(access)) return {}
  if (username !== undefined || password !== undefined) {
    return { authorization: `Basic ${Buffer.from(`${username ?? ''}:${password ?? ''}`, 'utf8').toString('base64')}` }
  }
  const token = renewed ?? user.token?.trim()
  if (token === undefined) return {}
  if (!OUTSIDE_HEADERS.test(token)) return { authorization: `Bearer ${token}` }
  const place = tokenFile
    ? `token file ${tokenFile}`
    : exec
      ? `credential plugin ${exec.command}`
      : `token in ${files.join(', ')}`
  throw new KubeConfigError(
    `${place} of user ${user.name}: the token has a line break in it, or another character that none has: write it in one line`,
    access,
  )
}
