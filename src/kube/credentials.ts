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
  /** The terminal access of a plugin at each run. Default: none. */
  pluginConsole?: () => PluginConsole
}

export const UNATTENDED_PLUGIN_MS = 60_000
/** The time limit of a plugin with a person at the terminal, who may have to find a phone and a password first. */
export const ATTENDED_PLUGIN_MS = 600_000
const NO_CONSOLE: PluginConsole = { timeoutMs: UNATTENDED_PLUGIN_MS, hasStdin: false, say: () => {} }
/** The time for which a token file is not read again. A rotated file contains the new token long before the old one expires. */
const TOKEN_FILE_FRESH_MS = 10_000

/** Files are read again for requests, so that renewed credentials are noticed. */
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
    // Concurrent requests share a running fetch, so that a plugin is not run twice at once.
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
  // As in kubectl, a secret is not sent over plain HTTP.
  if (isPlain(access)) return undefined
  if (tokenFile !== undefined) {
    return createRenewable({
      clock,
      fetch: () => readTokenFile(tokenFile, access),
      isFresh: (_secret, ageMs) => ageMs < TOKEN_FILE_FRESH_MS,
      // A file may be replaced in several steps, so a failed read keeps the former value.
      outlivesFailure: true,
    })
  }
  // The expiry is a time of the cluster's clock, and our clock may differ. It only decides about an early renewal; a 401 renews as well.
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
  // Without a token, the request would be that of system:anonymous.
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
    // The plugin sees the proxy variables of the environment itself, so only the proxy of the kubeconfig is passed.
    'proxy-url': cluster['proxy-url'],
    config: execExtension,
  }
}

function tlsIdentity(access: ClusterAccess): TlsIdentity {
  // Set explicitly, because NODE_TLS_REJECT_UNAUTHORIZED must not decide about trust.
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

/** The content of a field that is given as data, or as a file. */
function partOf(file: string | undefined, data: Buffer | undefined): Buffer | undefined {
  return data ?? (file === undefined ? undefined : readNamedFile(file))
}

/** Characters that a header cannot contain. The transport would refuse them with a message that names no source. */
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
