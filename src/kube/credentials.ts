import type { RequestOptions } from 'node:https'
import { KubeConfig } from '@kubernetes/client-node'
import type { Clock } from '../ports/clock.ts'
import type { ClusterAccess } from './cluster-access.ts'
import type { Credential, Credentials, TlsIdentity } from './credential.ts'
import { describeCause } from './describe-cause.ts'
import { type ExecConfig, type PluginCredential, runExecPlugin } from './exec-plugin.ts'
import { readIdToken } from './id-token.ts'
import { impersonationHeaders } from './impersonation.ts'
import { stringField } from './json.ts'
import { KubeConfigError } from './kubeconfig-error.ts'
import { readNamedFile } from './read-named-file.ts'
import { createRenewable, type Renewable } from './renewable.ts'

export interface CredentialsOptions {
  access: ClusterAccess
  clock: Clock
  /** Default 60,000: a plugin may open a browser. */
  execTimeoutMs?: number
}

export const EXEC_TIMEOUT_MS = 60_000
/** A rotated token file holds a new token long before the old one ends. */
const TOKEN_FILE_FRESH_MS = 10_000

/** Static parts come from client-node; files are read at every request, so that renewed ones are seen, and the rest is done here. */
export function createCredentials({ access, clock, execTimeoutMs = EXEC_TIMEOUT_MS }: CredentialsOptions): Credentials {
  const impersonated = impersonationHeaders(access.impersonation)
  const closing = new AbortController()
  const secret = renewableSecret(access, clock, execTimeoutMs, closing.signal)
  const issued = new WeakMap<Credential, PluginCredential>()
  let loading: Promise<Credential> | undefined

  async function load(): Promise<Credential> {
    const options: RequestOptions = {}
    try {
      await staticConfig(access).applyToHTTPSOptions(options)
    } catch (error) {
      throw new KubeConfigError(`credentials of user ${access.user.name}: ${describeCause(error)}`, { ...access, cause: error })
    }
    const renewed = await secret?.get()
    const credential: Credential = {
      tls: tlsIdentity(options, renewed, access),
      headers: { ...checkedAuthorization(options, renewed, access), ...impersonated },
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

/** What client-node does well: data, basic auth. What it does in part is left out of it: it would wait for a pipe without an end. */
function staticConfig({ cluster, user, server, exec, tokenFile }: ClusterAccess): KubeConfig {
  const name = 'current'
  const {
    impersonateUser: _as,
    exec: _exec,
    authProvider: _provider,
    token,
    certFile,
    certData,
    keyFile,
    keyData,
    ...rest
  } = user
  const caData = fileOrData(cluster.caFile, cluster.caData)
  const cert = fileOrData(certFile, certData)
  const key = fileOrData(keyFile, keyData)
  const config = new KubeConfig()
  config.loadFromOptions({
    clusters: [
      {
        name,
        server,
        ...(caData === undefined ? {} : { caData }),
        ...(cluster.tlsServerName === undefined ? {} : { tlsServerName: cluster.tlsServerName }),
        // client-node refuses http:// otherwise; there is no TLS to skip.
        skipTLSVerify: cluster.skipTLSVerify || server.startsWith('http:'),
      },
    ],
    users: [
      {
        ...rest,
        name,
        ...(cert === undefined ? {} : { certData: cert }),
        ...(key === undefined ? {} : { keyData: key }),
        ...(user.username == null ? {} : { password: user.password ?? '' }),
        ...(token === undefined || exec !== undefined || tokenFile !== undefined ? {} : { token }),
      },
    ],
    contexts: [{ name, cluster: name, user: name }],
    currentContext: name,
  })
  return config
}

/** Of both the file counts, as in client-node. */
function fileOrData(file: string | undefined, data: string | undefined): string | undefined {
  return file ? readNamedFile(file).toString('base64') : data
}

function renewableSecret(
  access: ClusterAccess,
  clock: Clock,
  execTimeoutMs: number,
  signal: AbortSignal,
): Renewable<PluginCredential> | undefined {
  const { tokenFile, exec, user } = access
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
  if (exec !== undefined) return createRenewable({ clock, fetch: () => runPlugin(exec, access, execTimeoutMs, signal), isFresh })
  if (user.authProvider == null || user.token) return undefined
  return createRenewable({ clock, fetch: async () => readIdToken(access, clock), isFresh, outlivesFailure: true })
}

async function readTokenFile(tokenFile: string, access: ClusterAccess): Promise<PluginCredential> {
  const fail = (why: string, cause?: unknown) =>
    new KubeConfigError(`token file ${tokenFile} of user ${access.user.name} ${why}`, { ...access, cause })
  let token: string
  try {
    token = readNamedFile(tokenFile).toString('utf8').trim()
  } catch (error) {
    throw fail(`cannot be read: ${describeCause(error)}`, error)
  }
  // Going on without would be going on as system:anonymous.
  if (token === '') throw fail('is empty')
  return { token }
}

async function runPlugin(
  exec: ExecConfig,
  access: ClusterAccess,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<PluginCredential> {
  return runExecPlugin({ exec, user: access.user.name, cluster: execCluster(access), timeoutMs, signal })
}

/** `spec.cluster` of an ExecCredential. */
function execCluster({ cluster, server, execExtension }: ClusterAccess): Record<string, unknown> {
  const ca = cluster.caFile === undefined ? cluster.caData : readNamedFile(cluster.caFile).toString('base64')
  return {
    server,
    'tls-server-name': cluster.tlsServerName,
    'insecure-skip-tls-verify': cluster.skipTLSVerify || undefined,
    'certificate-authority-data': ca,
    // What the environment says the plugin sees for itself.
    'proxy-url': cluster.proxyUrl || undefined,
    config: execExtension,
  }
}

function tlsIdentity(options: RequestOptions, renewed: PluginCredential | undefined, access: ClusterAccess): TlsIdentity {
  const { ca, cert, key, pfx, passphrase, servername } = options
  const certificate = renewed?.certificate
  return {
    ca: material(ca),
    cert: certificate?.cert ?? material(cert),
    key: certificate?.key ?? material(key),
    pfx: material(pfx),
    passphrase,
    servername,
    // Said outright: NODE_TLS_REJECT_UNAUTHORIZED must not decide whom we trust.
    rejectUnauthorized: !access.cluster.skipTLSVerify,
  }
}

/** client-node gives one PEM text or buffer, never the lists that Node would take. */
function material(value: unknown): string | Buffer | undefined {
  return typeof value === 'string' || Buffer.isBuffer(value) ? value : undefined
}

/** What a header cannot carry, the transport would refuse in words that name no place. */
const OUTSIDE_HEADERS = /[^\t\u0020-\u007e\u0080-\u00ff]/

function checkedAuthorization(
  options: RequestOptions,
  renewed: PluginCredential | undefined,
  access: ClusterAccess,
): Record<string, string> {
  const headers = authorization(options, renewed)
  if (!OUTSIDE_HEADERS.test(headers['authorization'] ?? '')) return headers
  const { user, files, tokenFile, exec } = access
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

function authorization(options: RequestOptions, renewed: PluginCredential | undefined): Record<string, string> {
  if (renewed?.token !== undefined) return { authorization: `Bearer ${renewed.token}` }
  if (typeof options.auth === 'string') {
    return { authorization: `Basic ${Buffer.from(options.auth, 'utf8').toString('base64')}` }
  }
  const value = stringField(options.headers, 'Authorization')
  return value === undefined ? {} : { authorization: value.trim() }
}
