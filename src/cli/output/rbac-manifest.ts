import { rightsOfDoctor, rightsOfDoctorIn } from '../../doctor/rights.ts'
import { NODE_LEASES } from '../../endpoints/nodes.ts'
import { rightsOfExplain } from '../../explain/read/rights.ts'
import { rightsOfObserver } from '../../observer/read/rights.ts'
import { rightsOfSync, rightsOfSyncSource, SYNC_NAMES } from '../../sync/rights.ts'
import { rightsOfWebhook, WEBHOOK_NAMES } from '../../webhook/rights.ts'
import { type Purpose, PURPOSES } from '../arguments/purposes.ts'
import { digest } from '../../journal/digest.ts'
import { displayType } from '../../pods/workload-id.ts'
import { KINDS } from '../../workloads/kinds/index.ts'
import { type Right, type RightsFor, rightsOfLocks, rightsOfOrders, rightsOfRun } from '../../engine/rights.ts'

/** The identity that sluice runs as. */
export type RbacSubject = { kind: 'ServiceAccount'; name: string; namespace: string } | { kind: 'User'; name: string }

export interface RbacManifest {
  /** The default is a run alone. */
  purposes?: readonly Purpose[]
  /** Absent means all kinds, of any name. */
  workloads: readonly RightsFor[]
  namespace: string
  subject: RbacSubject
  /** For a run: adds the rights of status, pause, resume and abort. */
  orders: boolean
  /** The load balancers of the config without a lock, such as `edge (haproxy)`. */
  loadBalancers: readonly string[]
  locks: readonly RbacLock[]
}

/** The Lease that a load balancer is changed under. */
export interface RbacLock {
  loadBalancer: string
  namespace: string
  lease: string
  /** The cluster of the Lease, where it is another cluster. */
  elsewhere?: string
}

const LINE = 110
const EXPLAIN = 'sluice-explain'
const OBSERVE = 'sluice-observe'
const DOCTOR = 'sluice-doctor'
const WEBHOOK = 'sluice-webhook'
const SYNC = 'sluice-sync'
const SYNC_SOURCE = 'sluice-sync-source'

/** Returns YAML for `kubectl apply`: the Roles with their bindings, and the ServiceAccount where sluice runs as one of this namespace. */
export function rbacManifest(manifest: RbacManifest): string {
  const { namespace, subject, purposes = ['upgrade'] } = manifest
  const own = subject.kind === 'ServiceAccount' && subject.namespace === namespace
  const objects = [
    ...(own ? [serviceAccount(subject.name, namespace)] : []),
    ...PURPOSES.filter((one) => purposes.includes(one)).flatMap((one) => OBJECTS[one](manifest)),
  ]
  const [first, ...more] = objects
  return [...headOf(manifest, purposes), ...first!, ...more.flatMap((object) => ['---', ...object]), ''].join('\n')
}

function headOf({ namespace, workloads, loadBalancers, locks }: RbacManifest, purposes: readonly Purpose[]): string[] {
  const isOfRun = purposes.includes('upgrade')
  const ofWhat = isOfRun || purposes.includes('explain') ? `: ${about(workloads)}` : ''
  const what = isOfRun ? ['of a run', ...purposes.filter((one) => one !== 'upgrade')] : purposes
  return [
    ...comment(`The rights of sluice in namespace ${namespace}, ${what.join(', ')}${ofWhat}. Made by sluice rbac.`),
    ...(loadBalancers.length === 0 || !isOfRun
      ? []
      : comment(`No load balancer of the config needs rights in the cluster: ${loadBalancers.join(', ')}.`)),
    ...(isOfRun ? locks.flatMap(elsewhereComment) : []),
  ]
}

/** The objects of each purpose, without the ServiceAccount. */
const OBJECTS: Readonly<Record<Purpose, (manifest: RbacManifest) => string[][]>> = {
  upgrade(manifest) {
    const { namespace, subject, workloads, locks } = manifest
    const near = Map.groupBy(
      locks.filter(({ elsewhere }) => elsewhere === undefined),
      (lock) => lock.namespace,
    )
    return [
      ...boundRole({ name: roleName(workloads), namespace, rights: rightsOf(manifest) }, subject),
      ...[...near].flatMap(([home, some]) => lockRole(home, some, subject)),
    ]
  },
  explain({ workloads, namespace, subject }) {
    const { inNamespace, ofCluster, ofHeartbeats } = rightsOfExplain(workloads, KINDS)
    const why = comment(
      'These objects are read by sluice explain. The command reports each right that it lacks, and skips these objects.',
    )
    return [
      ...boundRole({ name: EXPLAIN, namespace, rights: inNamespace }, subject, { why }),
      ...boundRole({ name: EXPLAIN, rights: ofCluster }, subject),
      ...boundRole({ name: EXPLAIN, namespace: NODE_LEASES, rights: ofHeartbeats }, subject, { isShared: true }),
    ]
  },
  observe({ subject }) {
    const text =
      'These objects are watched by sluice observe. The command reports each right that it lacks. Without -A, a Role is enough for all but the nodes.'
    return boundRole({ name: OBSERVE, rights: rightsOfObserver() }, subject, { why: comment(text) })
  },
  // The doctor reads objects of all namespaces. The records, and the objects that it creates for a probe, are in this namespace.
  doctor({ namespace, subject }) {
    const why = comment(
      'These objects are read by sluice doctor. The command reports each right that it lacks, and skips these checks.',
    )
    return [
      ...boundRole({ name: DOCTOR, rights: rightsOfDoctor(KINDS) }, subject, { why }),
      ...boundRole({ name: DOCTOR, namespace, rights: rightsOfDoctorIn(KINDS) }, subject),
    ]
  },
  webhook(manifest) {
    const { inAllowed, inOwn, ofCluster, ofCertificate } = rightsOfWebhook()
    const own = { name: WEBHOOK, namespace: homeOf(manifest), rights: [...inOwn, ...ofCertificate.inOwn] }
    return [
      ...boundRole({ name: WEBHOOK, namespace: manifest.namespace, rights: inAllowed }, manifest.subject, { why: WHY_ALLOWED }),
      ...boundRole(own, manifest.subject, { why: WHY_OWN }),
      ...boundRole({ name: WEBHOOK, rights: [...ofCluster, ...ofCertificate.ofCluster] }, manifest.subject),
    ]
  },
  sync(manifest) {
    const { inNamespace, inOwn, ofCluster } = rightsOfSync()
    const { namespace, subject } = manifest
    return [
      ...boundRole({ name: SYNC, namespace, rights: inNamespace }, subject, { why: WHY_COPIES }),
      ...boundRole({ name: `${SYNC}-own`, namespace: homeOf(manifest), rights: inOwn }, subject, { why: WHY_OWN }),
      ...boundRole({ name: SYNC, rights: ofCluster }, subject),
    ]
  },
  'sync-source'({ namespace, subject }) {
    const { inNamespace, ofCluster } = rightsOfSyncSource()
    return [
      ...boundRole({ name: SYNC_SOURCE, namespace, rights: inNamespace }, subject, { why: WHY_SOURCE }),
      ...boundRole({ name: SYNC_SOURCE, rights: ofCluster }, subject),
    ]
  },
}

const WHY_ALLOWED = comment('In each namespace of the allow-list of the webhook.')
const WHY_COPIES = comment('In the access cluster, in each namespace with a synced Service.')
const WHY_SOURCE = comment('In a source cluster, in each namespace with a synced Service. Nothing is changed there.')
const WHY_OWN = comment('In the namespace of the program itself.')

/** The namespace of a program that runs in the cluster. */
function homeOf({ subject, namespace }: RbacManifest): string {
  return subject.kind === 'ServiceAccount' ? subject.namespace : namespace
}

function elsewhereComment({ loadBalancer, namespace, lease, elsewhere }: RbacLock): string[] {
  if (elsewhere === undefined) return []
  return comment(
    `The lock of ${loadBalancer} is in another cluster (${elsewhere}): there it needs create of leases.coordination.k8s.io in namespace ${namespace}, and get and update of ${lease}.`,
  )
}

/**
 * Returns the Role in the namespace of the Leases. Other teams may have Leases there, so the name differs from that of every other Role.
 */
function lockRole(namespace: string, locks: readonly RbacLock[], subject: RbacSubject): string[][] {
  const leases = locks.map(({ lease }) => lease)
  const name = `sluice-locks-${digest(JSON.stringify([subject, leases]))}`
  const why = comment(`The locks of ${locks.map(({ loadBalancer }) => loadBalancer).join(', ')}.`)
  return boundRole({ name, namespace, rights: rightsOfLocks(leases) }, subject, { why })
}

/**
 * Returns a Role, or a ClusterRole where it has no namespace, with its binding. `isShared`: other teams have an equal Role there, as is
 * true of each ClusterRole, so the binding has a name of its own.
 */
function boundRole(
  of: Role,
  subject: RbacSubject,
  { why = [], isShared = of.namespace === undefined }: { why?: readonly string[]; isShared?: boolean } = {},
): string[][] {
  const { name, namespace } = of
  const binding = isShared ? `${name}-${digest(JSON.stringify(subject))}` : name
  return [[...why, ...role(of)], roleBinding(name, namespace, subject, binding)]
}

/** Without a namespace, the binding covers the whole cluster. */
function roleBinding(bound: string, namespace: string | undefined, subject: RbacSubject, name: string): string[] {
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

/**
 * Returns the files with the rights of the programs that run in a cluster, by their paths in deploy/. A Role without a namespace is for the
 * namespace of the kustomization that has it as a resource.
 */
export function deployedRights(): Record<string, string> {
  const webhook: RbacSubject = { kind: 'ServiceAccount', name: WEBHOOK_NAMES.account, namespace: WEBHOOK_NAMES.namespace }
  const sync: RbacSubject = { kind: 'ServiceAccount', name: SYNC_NAMES.account, namespace: SYNC_NAMES.namespace }
  const ofWebhook = rightsOfWebhook()
  const ofSync = rightsOfSync()
  const ofSource = rightsOfSyncSource()
  return {
    'webhook/base/rbac.yaml': manifestFile('of the webhook beside those in the allowed namespaces', [
      serviceAccount(webhook.name, webhook.namespace),
      ...boundRole({ name: WEBHOOK, namespace: webhook.namespace, rights: ofWebhook.inOwn }, webhook, { why: WHY_OWN }),
      ...boundRole({ name: WEBHOOK, rights: ofWebhook.ofCluster }, webhook),
    ]),
    'webhook/own-certificate/rbac.yaml': manifestFile('of a webhook that makes its certificate itself', [
      ...boundRole(
        { name: `${WEBHOOK}-certificate`, namespace: webhook.namespace, rights: ofWebhook.ofCertificate.inOwn },
        webhook,
      ),
      ...boundRole({ name: `${WEBHOOK}-certificate`, rights: ofWebhook.ofCertificate.ofCluster }, webhook),
    ]),
    'webhook/namespace/rbac.yaml': manifestFile(
      'of the webhook in one allowed namespace',
      anywhere(WEBHOOK, ofWebhook.inAllowed, webhook),
    ),
    'sync/base/rbac.yaml': manifestFile('of sync in the access cluster beside those in the namespaces of Services', [
      serviceAccount(sync.name, sync.namespace),
      ...boundRole({ name: `${SYNC}-own`, namespace: sync.namespace, rights: ofSync.inOwn }, sync, { why: WHY_OWN }),
      ...boundRole({ name: SYNC, rights: ofSync.ofCluster }, sync),
    ]),
    'sync/namespace/rbac.yaml': manifestFile(
      'of sync in one namespace of the access cluster',
      anywhere(SYNC, ofSync.inNamespace, sync),
    ),
    'sync/source/rbac.yaml': manifestFile('of sync in a source cluster beside those in the namespaces of Services', [
      ...boundRole({ name: SYNC_SOURCE, rights: ofSource.ofCluster }, sync),
    ]),
    'sync/source-namespace/rbac.yaml': manifestFile(
      'of sync in one namespace of a source cluster',
      anywhere(SYNC_SOURCE, ofSource.inNamespace, sync),
    ),
  }
}

/** A Role and its binding without a namespace. */
function anywhere(name: string, rights: readonly Right[], subject: RbacSubject): string[][] {
  const binding = roleBinding(name, undefined, subject, name).map((line) => line.replace('ClusterRole', 'Role'))
  return [role({ name, rights }, 'Role'), binding]
}

function manifestFile(whose: string, objects: readonly (readonly string[])[]): string {
  const [first, ...more] = objects
  const head = comment(`The rights ${whose}. Made by node scripts/write-rbac.ts, from the table that sluice rbac prints.`)
  return [...head, ...first!, ...more.flatMap((object) => ['---', ...object]), ''].join('\n')
}

/** Returns deploy/rbac.yaml, for any namespace and every kind of workload. */
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
    ...role({ name: 'sluice', rights: rightsOf({ workloads: [], orders: true }) }, 'Role'),
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

/** Without a namespace, the role covers the whole cluster. */
interface Role {
  name: string
  namespace?: string
  rights: readonly Right[]
}

/** `kind` overrides the kind for a Role whose namespace comes from kubectl. */
function role({ name, namespace, rights }: Role, kind = namespace === undefined ? 'ClusterRole' : 'Role'): string[] {
  return [
    'apiVersion: rbac.authorization.k8s.io/v1',
    `kind: ${kind}`,
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

/** Quotes a name that YAML could read as another type: 007, on, null. */
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
