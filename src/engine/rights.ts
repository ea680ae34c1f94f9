import type { WorkloadId } from '../pods/workload-id.ts'
import type { Kind } from '../workloads/kinds/kind.ts'
import type { Kinds } from '../workloads/kinds/kinds.ts'
import { knownKind } from '../workloads/known-kind.ts'
import { isPod } from '../workloads/kinds/pod.ts'
import { leaseName } from './leases/lease-name.ts'

/** One rule of a Role. The table in `rightsOfRun` is the only source of the rights of a run. */
export interface Right {
  group: string
  resource: string
  subresource?: string
  verbs: readonly string[]
  /** The names of the objects, where they are known beforehand. */
  names?: readonly string[]
  /** The plan does not ask for the right, since a run works without it. */
  isOptional?: true
  /** The explanation for the administrator that grants the right, in sentences. */
  why: string
}

/** A kind of workload. `name` is present where the run is about a single workload. */
export interface RightsFor {
  kind: Kind
  name?: string
}

/** Resolves the kinds. Throws a WorkloadError for a kind that is not known. */
export function rightsFor(refs: readonly WorkloadId[], kinds: Kinds): RightsFor[] {
  return refs.map((ref) => ({ kind: knownKind(kinds, ref), name: ref.name }))
}

/** The rights that a run of these workloads needs, and no others. With an empty list, the rights that every run needs. */
export function rightsOfRun(workloads: readonly RightsFor[]): Right[] {
  const owners = workloads.flatMap(({ kind: { rights }, name }) =>
    rights.flatMap(({ isOfWorkload, ...right }) =>
      isOfWorkload ? [{ ...right, ...(name !== undefined && { names: [name] }) }] : [],
    ),
  )
  const made = workloads.flatMap(({ kind: { rights } }) =>
    rights.flatMap(({ isOfWorkload, ...right }) => (isOfWorkload ? [] : [right])),
  )
  // The Lease of a bare pod is the Lease of its controller, whose name is not known here.
  const leases = workloads.length > 0 && workloads.every(({ kind, name }) => name !== undefined && !isPod(kind))
  const names = leases ? workloads.map(({ kind, name }) => leaseName({ ...kind, name: name! })) : undefined
  return mergeRights([
    {
      group: '',
      resource: 'pods',
      verbs: ['get', 'list', 'watch', 'patch'],
      why: 'One list and watch, which the runs of a process share; get, to read back what a lost answer leaves open; patch, for the images, the revision label and the journal in an annotation.',
    },
    {
      group: '',
      resource: 'pods',
      subresource: 'status',
      verbs: ['patch'],
      why: 'The journal in a condition: written before a drain, where a changed annotation would make the kubelet busy with the pod just when its images are to be patched.',
    },
    ...owners,
    ...made,
    {
      group: 'coordination.k8s.io',
      resource: 'leases',
      verbs: ['create'],
      why: 'The owner of the run of a workload: the Lease sluice-KIND-NAME. No Lease is ever deleted, because its count of owners is the epoch. A name cannot restrict create.',
    },
    { group: 'coordination.k8s.io', resource: 'leases', verbs: ['get', 'update'], ...(names && { names }), why: 'To hold it.' },
    {
      group: '',
      resource: 'configmaps',
      verbs: ['get', 'list', 'create', 'patch', 'delete'],
      why: 'The ledger of a run: ConfigMaps sluice-run-ID, of which the newest few are kept. Their names are not known before, so that no name can restrict this.',
    },
    {
      group: 'discovery.k8s.io',
      resource: 'endpointslices',
      verbs: ['list', 'watch'],
      why: 'A pod is back only when the endpoints are that it had before.',
    },
    {
      group: '',
      resource: 'events',
      verbs: ['list'],
      isOptional: true,
      why: 'Optional, for kubelets before 1.34: which image a container was started from. Without it time alone proves a restart where the new image has the digest of the old one.',
    },
  ])
}

/** The additional rights of `sluice status` and of the orders pause, resume and abort. */
export function rightsOfOrders(): Right[] {
  return [
    {
      group: 'coordination.k8s.io',
      resource: 'leases',
      verbs: ['list', 'patch'],
      why: 'For sluice status, pause, resume and abort. A run itself does without.',
    },
  ]
}

/** The rights that the locks of load balancers need in the namespace of their Leases. */
export function rightsOfLocks(leases: readonly string[]): Right[] {
  const lease = { group: 'coordination.k8s.io', resource: 'leases' }
  return mergeRights([
    { ...lease, verbs: ['create'], why: 'The Lease of a document: sluice-document-DIGEST. A name cannot restrict create.' },
    { ...lease, verbs: ['get', 'update'], names: leases, why: 'To hold it for each change of the document.' },
  ])
}

/** Merges the rules with the same resource and verbs into one rule with all names. */
export function mergeRights(rights: readonly Right[]): Right[] {
  const byRule = Map.groupBy(rights, ({ resource, subresource = '', group, verbs }) =>
    [group, resource, subresource, ...verbs].join(' '),
  )
  return Array.from(byRule.values(), (same) => {
    const { names: _names, ...first } = same[0]!
    const isForAll = same.some(({ names }) => names === undefined)
    return isForAll ? first : { ...first, names: [...new Set(same.flatMap(({ names }) => names!))] }
  })
}

/** The name of a right in an error: `patch pods/status`, `get leases.coordination.k8s.io`. */
export function rightName({
  verb,
  group = '',
  resource,
  subresource,
}: {
  verb: string
  group?: string
  resource: string
  subresource?: string
}): string {
  return `${verb} ${resource}${group === '' ? '' : `.${group}`}${subresource ? `/${subresource}` : ''}`
}
