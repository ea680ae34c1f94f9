import { rightsOfDoctor, rightsOfProbe } from '../../doctor/rights.ts'
import { rightsOfObserver } from '../../observer/read/rights.ts'
import { digest } from '../../journal/digest.ts'
import { displayType } from '../../pods/workload-id.ts'
import { KINDS } from '../../workloads/kinds/index.ts'
import { type Right, type RightsFor, rightsOfLocks, rightsOfOrders, rightsOfRun } from '../../engine/rights.ts'

/** The identity that sluice runs as. */
export type RbacSubject = { kind: 'ServiceAccount'; name: string; namespace: string } | { kind: 'User'; name: string }

export interface RbacManifest {
  /** Absent: all kinds, of any name. */
  workloads: readonly RightsFor[]
  namespace: string
  subject: RbacSubject
  /** With the rights of status, pause, resume and abort. */
  orders: boolean
  /** With those of the doctor, which are of the whole cluster. Default: without. */
  doctor?: boolean
  /** With those of observe, which are of the whole cluster too. Default: without. */
  observe?: boolean
  /** Load balancers of the config without a lock, as `edge (haproxy)`. */
  loadBalancers: readonly string[]
  locks: readonly RbacLock[]
}

/** The Lease that a load balancer is changed under. */
export interface RbacLock {
  loadBalancer: string
  namespace: string
  lease: string
  /** Its cluster, where that is another one. */
  elsewhere?: string
}

const LINE = 110
const DOCTOR = 'sluice-doctor'
const OBSERVE = 'sluice-observe'

/** YAML for `kubectl apply`: the ServiceAccount where sluice runs as one of this namespace, a Role, and its RoleBinding. */
export function rbacManifest(manifest: RbacManifest): string {
  const { namespace, subject, loadBalancers, locks } = manifest
  const name = roleName(manifest.workloads)
  const of =
    loadBalancers.length === 0
      ? []
      : comment(`No load balancer of the config needs rights in the cluster: ${loadBalancers.join(', ')}.`)
  const own = subject.kind === 'ServiceAccount' && subject.namespace === namespace
  const near = Map.groupBy(
    locks.filter(({ elsewhere }) => elsewhere === undefined),
    (lock) => lock.namespace,
  )
  return [
    ...comment(`The rights of a run of sluice in namespace ${namespace}: ${about(manifest.workloads)}. Made by sluice rbac.`),
    ...of,
    ...locks.flatMap(elsewhereComment),
    ...(own ? [...serviceAccount(subject.name, namespace), '---'] : []),
    ...role({ name, namespace, rights: rightsOf(manifest) }),
    '---',
    ...roleBinding(name, namespace, subject),
    ...[...near].flatMap(([home, some]) => lockRole(home, some, subject)),
    ...(manifest.doctor === true ? doctorRoles(namespace, subject) : []),
    ...(manifest.observe === true ? observeRole(subject) : []),
    '',
  ].join('\n')
}

function elsewhereComment({ loadBalancer, namespace, lease, elsewhere }: RbacLock): string[] {
  if (elsewhere === undefined) return []
  return comment(
    `The lock of ${loadBalancer} is in another cluster (${elsewhere}): there it needs create of leases.coordination.k8s.io in namespace ${namespace}, and get and update of ${lease}.`,
  )
}

/** In the namespace of the Leases, where other teams may have theirs: a name of its own, which no Role of another team has. */
function lockRole(namespace: string, locks: readonly RbacLock[], subject: RbacSubject): string[] {
  const leases = locks.map(({ lease }) => lease)
  const name = `sluice-locks-${digest(JSON.stringify([subject, leases]))}`
  return [
    '---',
    ...comment(`The locks of ${locks.map(({ loadBalancer }) => loadBalancer).join(', ')}.`),
    ...role({ name, namespace, rights: rightsOfLocks(leases) }),
    '---',
    ...roleBinding(name, namespace, subject),
  ]
}

/** What the doctor reads is of all namespaces, and what it makes for a probe of this one. */
function doctorRoles(namespace: string, subject: RbacSubject): string[] {
  return [
    '---',
    ...comment('What sluice doctor reads. What is left out, it does not look at, and says so.'),
    ...clusterRole(DOCTOR, rightsOfDoctor(KINDS), subject),
    '---',
    ...role({ name: DOCTOR, namespace, rights: rightsOfProbe() }),
    '---',
    ...roleBinding(DOCTOR, namespace, subject),
  ]
}

function observeRole(subject: RbacSubject): string[] {
  return [
    '---',
    ...comment('What sluice observe watches. What is left out, it says; without -A a Role is enough for all but the nodes.'),
    ...clusterRole(OBSERVE, rightsOfObserver(), subject),
  ]
}

/** Other teams have a binding of their own to the same ClusterRole. */
function clusterRole(name: string, rights: readonly Right[], subject: RbacSubject): string[] {
  return [
    ...role({ name, rights, isOfCluster: true }),
    '---',
    ...roleBinding(name, undefined, subject, `${name}-${digest(JSON.stringify(subject))}`),
  ]
}

/** Without a namespace: of the whole cluster. */
function roleBinding(bound: string, namespace: string | undefined, subject: RbacSubject, name = bound): string[] {
  const prefix = namespace === undefined ? 'Cluster' : ''
  return [
    'apiVersion: rbac.authorization.k8s.io/v1',
    `kind: ${prefix}RoleBinding`,
    ...metadata(name, namespace),
    'roleRef:',
    '  apiGroup: rbac.authorization.k8s.io',
    `  kind: ${prefix}Role`,
    `  name: ${scalar(bound)}`,
    'subjects:',
    ...(subject.kind === 'User' ? ['  - apiGroup: rbac.authorization.k8s.io', '    kind: User'] : ['  - kind: ServiceAccount']),
    `    name: ${scalar(subject.name)}`,
    ...(subject.kind === 'User' ? [] : [`    namespace: ${scalar(subject.namespace)}`]),
  ]
}

/** deploy/rbac.yaml: for whichever namespace it is applied to, and every kind of workload. */
export function rbacFile(): string {
  return [
    ...comment(
      'The rights of sluice in one namespace, for every kind of workload: a ServiceAccount and its Role, in the namespace that kubectl is told. A RoleBinding has to name the namespace of a ServiceAccount, so that a command makes it:',
    ),
    '#',
    '#   kubectl apply -n NAMESPACE -f deploy/rbac.yaml',
    '#   kubectl create rolebinding sluice -n NAMESPACE --role=sluice --serviceaccount=NAMESPACE:sluice',
    '#',
    ...comment(
      '`sluice rbac` prints all three at once, with less rights for less: of one kind, of one workload, for a user. It has made this file, too: node scripts/write-rbac.ts.',
    ),
    ...serviceAccount('sluice'),
    '---',
    ...role({ name: 'sluice', rights: rightsOf({ workloads: [], orders: true }) }),
    '',
  ].join('\n')
}

function serviceAccount(name: string, namespace?: string): string[] {
  return ['apiVersion: v1', 'kind: ServiceAccount', ...metadata(name, namespace)]
}

function rightsOf({ workloads, orders }: Pick<RbacManifest, 'workloads' | 'orders'>): Right[] {
  const asked = workloads.length > 0 ? workloads : KINDS.all.map((kind) => ({ kind }))
  return [...rightsOfRun(asked), ...(orders ? rightsOfOrders() : [])]
}

interface Role {
  name: string
  namespace?: string
  rights: readonly Right[]
  isOfCluster?: boolean
}

function role({ name, namespace, rights, isOfCluster = false }: Role): string[] {
  return [
    'apiVersion: rbac.authorization.k8s.io/v1',
    `kind: ${isOfCluster ? 'ClusterRole' : 'Role'}`,
    ...metadata(name, namespace),
    'rules:',
    ...rights.flatMap(rule),
  ]
}

function metadata(name: string, namespace?: string): string[] {
  return ['metadata:', `  name: ${scalar(name)}`, ...(namespace === undefined ? [] : [`  namespace: ${scalar(namespace)}`])]
}

function rule({ group, resource, subresource, verbs, names, why }: Right): string[] {
  const path = subresource === undefined ? resource : `${resource}/${subresource}`
  return [
    ...comment(why, '  '),
    `  - apiGroups: [${scalar(group)}]`,
    `    resources: [${path}]`,
    ...(names === undefined ? [] : [`    resourceNames: [${names.map(scalar).join(', ')}]`]),
    `    verbs: [${verbs.join(', ')}]`,
  ]
}

function roleName(workloads: readonly RightsFor[]): string {
  return ['sluice', ...workloads.flatMap(({ kind, name }) => [displayType(kind), ...(name === undefined ? [] : [name])])].join(
    '-',
  )
}

function about(workloads: readonly RightsFor[]): string {
  if (workloads.length === 0) return 'workloads of every kind'
  return workloads.map(({ kind, name }) => (name === undefined ? `any ${kind.kind}` : `${kind.kind} ${name}`)).join(', ')
}

/** A name may look like another type: 007, on, null. */
function scalar(text: string): string {
  return /^[a-z][-a-z0-9.]+$/.test(text) && !/^(null|true|false|yes|no|on|off)$/.test(text) ? text : JSON.stringify(text)
}

function comment(text: string, indent = ''): string[] {
  const lines: string[] = []
  let line = `${indent}#`
  for (const word of text.split(' ')) {
    if (line.length + 1 + word.length > LINE) {
      lines.push(line)
      line = `${indent}#`
    }
    line += ` ${word}`
  }
  return [...lines, line]
}
