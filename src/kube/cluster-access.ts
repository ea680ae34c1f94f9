import { homedir } from 'node:os'
import { z } from 'zod'
import { unusableAuthProvider } from './auth-provider.ts'
import { environmentProxy } from './environment-proxy.ts'
import { ExecConfig } from './exec-plugin.ts'
import type { Impersonation } from './impersonation.ts'
import { inClusterConfig } from './in-cluster.ts'
import { fieldProblem } from './field-problem.ts'
import { field, stringField } from './json.ts'
import { KubeConfigError } from './kubeconfig-error.ts'
import {
  type Cluster,
  commandFromFolder,
  type Entry,
  findKubeConfigFiles,
  fromFolder,
  type MergedKubeConfig,
  readKubeConfigFiles,
  type User,
} from './kubeconfig-files.ts'

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

/** Where the process runs; tests give their own. */
export interface Surroundings {
  env: NodeJS.ProcessEnv
  home: string
  /** What the service account's folder is mounted below. */
  serviceAccountRoot: string
}

/** One cluster, as one user. */
export interface ClusterAccess {
  server: string
  namespace: string
  cluster: Cluster
  user: User
  /** By the kubeconfig, or else the environment. */
  proxyUrl: string | undefined
  tokenFile: string | undefined
  exec: ExecConfig | undefined
  /** `extensions` of the cluster for its plugin. */
  execExtension: unknown
  impersonation: Impersonation
  files: string[]
  context: string | undefined
}

/** The fields of a user that client-node leaves out, or does not do all of. */
const RawUser = z.object({
  tokenFile: z.string().nullish(),
  as: z.string().nullish(),
  'as-uid': z.string().nullish(),
  'as-groups': z.array(z.string()).nullish(),
  'as-user-extra': z.record(z.string(), z.array(z.string())).nullish(),
  exec: ExecConfig.nullish(),
})

const EXEC_EXTENSION = 'client.authentication.k8s.io/exec'

export function resolveClusterAccess(options: AccessOptions, surroundings: Partial<Surroundings> = {}): ClusterAccess {
  const env = surroundings.env ?? process.env
  const home = surroundings.home ?? env['HOME'] ?? homedir()
  const files = findKubeConfigFiles({ kubeconfig: options.kubeconfig, env, home })
  const merged = files.length > 0 ? readKubeConfigFiles(files) : inClusterConfig(env, surroundings.serviceAccountRoot)
  if (merged === undefined) {
    throw new KubeConfigError('no cluster is configured: name a kubeconfig (--kubeconfig, KUBECONFIG or ~/.kube/config)')
  }
  return select(merged, options, env)
}

function select(merged: MergedKubeConfig, options: AccessOptions, env: NodeJS.ProcessEnv): ClusterAccess {
  const { files } = merged
  const contextName = options.context ?? merged.currentContext
  if (contextName === undefined && options.cluster === undefined) {
    const known = listNames(merged.contexts)
    throw new KubeConfigError(`no current context in ${files.join(', ')}; choose one with --context: ${known}`, { files })
  }
  const fields = { files, context: contextName }
  const context = contextName === undefined ? undefined : pick(merged.contexts, 'context', contextName, fields)
  const cluster = pick(merged.clusters, 'cluster', options.cluster ?? context?.cluster, fields)
  const userName = options.user ?? context?.user
  // No user at all is a server that asks for nothing, such as a local proxy.
  const user = userName === undefined ? anonymous : pick(merged.users, 'user', userName, fields)
  const raw = RawUser.safeParse(user.raw ?? {})
  const problems = [unusableAuthProvider(user.raw), ...(raw.error?.issues.map((issue) => fieldProblem(issue, user.raw)) ?? [])]
  const where = problems.filter((one) => one !== undefined).join('; ')
  if (!raw.success || where !== '')
    throw new KubeConfigError(`user ${user.entry.name} in ${files.join(', ')} cannot be used: ${where}`, fields)
  const { tokenFile, exec } = raw.data
  const server = checkedServer(cluster.entry, fields)
  return {
    server,
    namespace: options.namespace ?? (context?.namespace?.trim() || 'default'),
    cluster: withDataFirst(cluster.entry),
    user: user.entry,
    proxyUrl: checkedProxy(cluster.entry, fields) ?? proxyOfEnvironment(server, env, fields),
    tokenFile: tokenFile == null || tokenFile === '' ? undefined : fromFolder(user.folder, tokenFile),
    exec: exec == null ? undefined : { ...exec, command: commandFromFolder(user.folder, exec.command) },
    execExtension: execExtension(cluster.raw),
    impersonation: impersonation(raw.data, options),
    ...fields,
  }
}

const anonymous: Entry<User> = { entry: { name: 'anonymous' }, raw: {}, folder: '/' }

function pick<T>(
  entries: Map<string, T>,
  kind: string,
  name: string | undefined,
  fields: { files: string[]; context: string | undefined },
): T {
  const found = name === undefined ? undefined : entries.get(name)
  if (found !== undefined) return found
  const where = fields.files.length === 0 ? 'the service account' : fields.files.join(', ')
  const wanted = name === undefined ? `the context names no ${kind}` : `${kind} ${name} is not in ${where}, or not whole`
  throw new KubeConfigError(`${wanted}; choose another with --${kind}: ${listNames(entries)}`, fields)
}

function listNames(entries: Map<string, unknown>): string {
  return entries.size === 0 ? 'there is none' : [...entries.keys()].toSorted().join(', ')
}

/** What was given on the command line stands for all of it: groups of one identity must not come with another's name. */
function impersonation(user: z.infer<typeof RawUser>, { as, asGroups, asUid }: AccessOptions): Impersonation {
  if (as !== undefined) return { user: as, groups: asGroups, uid: asUid }
  return {
    user: user.as ?? undefined,
    groups: asGroups ?? user['as-groups'] ?? undefined,
    uid: asUid ?? user['as-uid'] ?? undefined,
    extra: user['as-user-extra'] ?? undefined,
  }
}

/** As in kubectl: of an authority that is given in both ways, the data count. (client-node takes the file.) */
function withDataFirst({ caFile, ...cluster }: Cluster): Cluster {
  return cluster.caData || !caFile ? cluster : { ...cluster, caFile }
}

function checkedServer({ name, server }: Cluster, fields: { files: string[]; context: string | undefined }): string {
  const url = URL.parse(server)
  if (url?.protocol === 'https:' || url?.protocol === 'http:') return server
  throw new KubeConfigError(`cluster ${name}: server ${server} must be a URL that begins with https:// or http://`, fields)
}

function checkedProxy({ name, proxyUrl }: Cluster, fields: { files: string[]; context: string | undefined }): string | undefined {
  if (proxyUrl === undefined || proxyUrl === '') return undefined
  if (isUsableProxy(proxyUrl)) return proxyUrl
  throw new KubeConfigError(
    `cluster ${name}: proxy-url must be http:// or https://; ${schemeOf(proxyUrl)} is not supported`,
    fields,
  )
}

function proxyOfEnvironment(
  server: string,
  env: NodeJS.ProcessEnv,
  fields: { files: string[]; context: string | undefined },
): string | undefined {
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

/** Not the URL itself: it may hold a password. */
function schemeOf(url: string): string {
  return URL.parse(url)?.protocol.replace(':', '') ?? 'something else'
}

function execExtension(rawCluster: unknown): unknown {
  const extensions = field(rawCluster, 'extensions')
  const found = Array.isArray(extensions) ? extensions.find((each) => stringField(each, 'name') === EXEC_EXTENSION) : undefined
  return field(found, 'extension')
}
