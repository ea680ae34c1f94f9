import { homedir } from 'node:os'
import { unusableAuthProvider } from './auth-provider.ts'
import { environmentProxy } from './environment-proxy.ts'
import { type ExecConfig, execProblems } from './exec-config.ts'
import type { Impersonation } from './impersonation.ts'
import { inClusterConfig } from './in-cluster.ts'
import { type ClusterFields, noUser, type UserFields } from './kubeconfig-document.ts'
import { KubeConfigError } from './kubeconfig-error.ts'
import { findKubeConfigFiles, type MergedKubeConfig, namedKubeConfigFiles, readKubeConfigFiles } from './kubeconfig-files.ts'

export interface AccessOptions {
  kubeconfig?: string | undefined
  context?: string | undefined
  cluster?: string | undefined
  user?: string | undefined
  namespace?: string | undefined
  as?: string | undefined
  asGroups?: string[] | undefined
  asUid?: string | undefined
}

/** The environment of the process; tests supply their own. */
export interface Surroundings {
  env: NodeJS.ProcessEnv
  home: string
  /** The root folder of the service account's mount. */
  serviceAccountRoot: string
}

/** The access to one cluster as one user. */
export interface ClusterAccess {
  server: string
  namespace: string
  cluster: ClusterFields & { name: string }
  user: UserFields & { name: string }
  /** The proxy of the kubeconfig, else of the environment. */
  proxyUrl: string | undefined
  /** Absent if the user has another credential with precedence. */
  exec: ExecConfig | undefined
  /** `extensions` of the cluster, for its plugin. */
  execExtension: unknown
  impersonation: Impersonation
  files: string[]
  context: string | undefined
}

type Fields = Pick<ClusterAccess, 'files' | 'context'>

const EXEC_EXTENSION = 'client.authentication.k8s.io/exec'

export function resolveClusterAccess(options: AccessOptions, surroundings: Partial<Surroundings> = {}): ClusterAccess {
  const env = surroundings.env ?? process.env
  const home = surroundings.home ?? env['HOME'] ?? homedir()
  const files = findKubeConfigFiles({ kubeconfig: options.kubeconfig, env, home })
  const read = readKubeConfigFiles(files)
  const account = inClusterConfig(env, surroundings.serviceAccountRoot)
  // As in kubectl, the service account of the pod is used if no cluster and no user is chosen, whether the kubeconfig is empty or missing.
  const isChosen = [options.context ?? read.currentContext, options.cluster, options.user].some((one) => one !== undefined)
  const merged = isChosen ? read : (account ?? read)
  if (merged.files.length === 0 && merged !== account) throw noCluster(env)
  return select(merged, options, { env, namespace: account?.namespace })
}

function noCluster(env: NodeJS.ProcessEnv): KubeConfigError {
  const named = namedKubeConfigFiles(env)
  if (named.length > 0) return new KubeConfigError(`KUBECONFIG names ${named.join(', ')}, which does not exist`, { files: named })
  return new KubeConfigError(
    'no cluster is configured: name a kubeconfig, by KUBECONFIG for example, or have one at ~/.kube/config',
  )
}

/** The environment of the process, and the namespace of its pod. */
interface Around {
  env: NodeJS.ProcessEnv
  namespace: string | undefined
}

function select(merged: MergedKubeConfig, options: AccessOptions, around: Around): ClusterAccess {
  const { files } = merged
  const contextName = options.context ?? merged.currentContext
  if (contextName === undefined && options.cluster === undefined) {
    const known = listNames(merged.contexts)
    throw new KubeConfigError(`no current context in ${files.join(', ')}; choose a context: ${known}`, { files })
  }
  const fields = { files, context: contextName }
  const context = contextName === undefined ? undefined : pick(merged.contexts, 'context', contextName, fields)
  const cluster = pick(merged.clusters, 'cluster', options.cluster ?? context?.cluster, fields)
  const userName = options.user ?? context?.user
  // A server with plain HTTP, such as a local proxy, may be used without a user.
  const user = userName === undefined ? { name: '(none)', ...noUser } : pick(merged.users, 'user', userName, fields)
  refuse('cluster', cluster.name, clusterProblems(cluster), fields)
  refuse('user', user.name, userProblems(user), fields)
  const server = checkedServer(cluster, fields)
  if (server.startsWith('https:') && !canIdentify(user)) refuse('user', user.name, [NO_CREDENTIAL], fields)
  return {
    server,
    // As in kubectl, the pod's namespace is the default even with a kubeconfig, whichever cluster it names.
    namespace: options.namespace ?? context?.namespace ?? around.namespace ?? 'default',
    cluster,
    user,
    proxyUrl: checkedProxy(cluster, fields) ?? proxyOfEnvironment(server, around.env, fields),
    exec: hasCredential(user) ? undefined : user.exec,
    execExtension: cluster.extensions.find(({ name }) => name === EXEC_EXTENSION)?.extension,
    impersonation: impersonation(user, options),
    ...fields,
  }
}

function refuse(kind: string, name: string, problems: string[], fields: Fields): void {
  if (problems.length === 0) return
  const message = `${kind} ${name} in ${fields.files.join(', ')} cannot be used: ${problems.join('; ')}`
  throw new KubeConfigError(message, fields)
}

/** Where kubectl would ask for a user name and a password, and fail without a terminal. */
const NO_CREDENTIAL =
  'it has no credential: give it a token, a client certificate or a credential plugin (exec), or choose another user'

function canIdentify(user: UserFields): boolean {
  const { token, tokenFile, username, exec } = user
  const hasCertificate = user['client-certificate'] ?? user['client-certificate-data']
  return [token, tokenFile, username, exec, user['auth-provider'], hasCertificate].some((one) => one !== undefined)
}

/** Conflicting fields, which kubectl refuses too. */
function clusterProblems(cluster: ClusterFields): string[] {
  return cluster['certificate-authority'] && cluster['certificate-authority-data']
    ? ['certificate-authority and certificate-authority-data are both given: remove one of them']
    : []
}

function userProblems(user: UserFields): string[] {
  const problems: (string | false | undefined)[] = [unusableAuthProvider(user)]
  for (const part of ['client-certificate', 'client-key'] as const)
    problems.push(user[part] && user[`${part}-data`] && `${part} and ${part}-data are both given: remove one of them`)
  if (hasPassword(user) && (user.token || user.tokenFile))
    problems.push('a token and a username with its password are both given: remove one of them')
  if (user.exec !== undefined) {
    problems.push(...execProblems(user.exec))
    if (user['auth-provider'] !== undefined) problems.push('exec and auth-provider are both given: remove one of them')
  }
  return problems.filter((problem): problem is string => typeof problem === 'string' && problem !== '')
}

function hasPassword({ username, password }: UserFields): boolean {
  return username !== undefined || password !== undefined
}

/** True for a user with a credential; no plugin is run for it. */
function hasCredential(user: UserFields): boolean {
  const hasCertificate = user['client-certificate'] !== undefined || user['client-certificate-data'] !== undefined
  return user.token !== undefined || user.tokenFile !== undefined || hasPassword(user) || hasCertificate
}

function pick<T extends object>(
  entries: Map<string, T>,
  kind: string,
  name: string | undefined,
  fields: Fields,
): T & { name: string } {
  const found = name === undefined ? undefined : entries.get(name)
  if (found !== undefined) return { ...found, name: name! }
  const where = fields.files.length === 0 ? 'the service account' : fields.files.join(', ')
  const wanted = name === undefined ? `the context names no ${kind}` : `${kind} ${name} is not in ${where}`
  throw new KubeConfigError(`${wanted}; choose another ${kind}: ${listNames(entries)}`, fields)
}

function listNames(entries: Map<string, unknown>): string {
  return entries.size === 0 ? 'there is none' : [...entries.keys()].toSorted().join(', ')
}

/**
 * The impersonation of the command line replaces that of the kubeconfig completely, because groups of one identity must not be combined
 * with the name of another.
 */
function impersonation(user: UserFields, { as, asGroups, asUid }: AccessOptions): Impersonation {
  if (as !== undefined) return { user: as, groups: asGroups, uid: asUid }
  return {
    user: user.as,
    groups: asGroups ?? user['as-groups'],
    uid: asUid ?? user['as-uid'],
    extra: user['as-user-extra'],
  }
}

function checkedServer({ name, server }: ClusterAccess['cluster'], fields: Fields): string {
  if (server === undefined) throw new KubeConfigError(`cluster ${name} has no server: give it the URL of one`, fields)
  const url = URL.parse(server)
  if (url === null || !['https:', 'http:'].includes(url.protocol))
    throw new KubeConfigError(`cluster ${name}: server ${server} must be a URL that begins with https:// or http://`, fields)
  return server.replace(/\/+$/, '')
}

function checkedProxy({ name, 'proxy-url': proxyUrl }: ClusterAccess['cluster'], fields: Fields): string | undefined {
  if (proxyUrl === undefined || isUsableProxy(proxyUrl)) return proxyUrl
  throw new KubeConfigError(
    `cluster ${name}: proxy-url must be http:// or https://; ${schemeOf(proxyUrl)} is not supported`,
    fields,
  )
}

function proxyOfEnvironment(server: string, env: NodeJS.ProcessEnv, fields: Fields): string | undefined {
  const proxy = environmentProxy(server, env)
  if (proxy === undefined || isUsableProxy(proxy.url)) return proxy?.url
  const { hostname } = new URL(server)
  throw new KubeConfigError(
    `${proxy.variable} must be http:// or https://; ${schemeOf(proxy.url)} is not supported; a cluster that is reached without it ` +
      `is named in NO_PROXY: ${hostname}`,
    fields,
  )
}

function isUsableProxy(url: string): boolean {
  return ['http:', 'https:'].includes(URL.parse(url)?.protocol ?? '')
}

/** The scheme alone, because the URL may contain a password. */
function schemeOf(url: string): string {
  return URL.parse(url)?.protocol.replace(':', '') ?? 'something else'
}
