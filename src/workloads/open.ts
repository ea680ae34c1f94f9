import { isNotFound } from '../kube/errors.ts'
import type { PodSelection } from '../observation/pod-record.ts'
import type { PodView } from '../pods/glossary.ts'
import { podView } from '../pods/view.ts'
import type { WorkloadRef } from '../plan/plan.ts'
import { displayName, isSameWorkload } from '../pods/workload-id.ts'
import { namingTheRight } from './errors.ts'
import type { OpenOptions } from './open-options.ts'
import { type OwnedPod, type Ownership, createOwnerLookup } from './owner.ts'
import { isPod, POD } from './kinds/pod.ts'
import { knownKind } from './known-kind.ts'
import { lonePods } from './lone-pods.ts'
import { openPodsAlone } from './pods-alone.ts'
import { resourceOf } from './resources.ts'
import { openRevisioned } from './revisioned.ts'
import { notFound } from './watch.ts'
import type { Workload } from './workload.ts'

/** The workloads and pods that a request by name refers to. */
export interface NamedWorkloads {
  /** Sorted, without duplicates. A named pod is represented by its owner. */
  workloads: Workload[]
  /** The selector for the single view of all pods. */
  selector: PodSelection
  /** True for the pods of the request: pods of a named workload, and named pods. */
  includes(pod: PodView): boolean
  /** True if the request names pods, whose workloads may have more pods. */
  isAboutPods: boolean
}

/** Opens one workload. A pod is opened as its owner, or without an owner as a workload of that pod alone. */
export async function openWorkload(ref: WorkloadRef, options: OpenOptions): Promise<Workload> {
  const { workloads } = await openNamed([ref], options)
  return workloads[0]!
}

/**
 * Opens the named workloads. Costs one LIST and WATCH for each workload, one for the objects that its controller made for it, and one GET
 * for each named pod.
 */
export async function openNamed(refs: readonly WorkloadRef[], options: OpenOptions): Promise<NamedWorkloads> {
  const named = refs.filter(isPod)
  const pods: PodView[] = []
  for (const ref of named) pods.push(await readPod(ref, options))
  const above = await ownersOf(pods, options)
  const direct = refs.filter((ref) => !isPod(ref))
  const workloads = await openAll({ refs: [...direct, ...above.refs], lone: above.lone }, options)
  return {
    workloads,
    selector: podSelector(workloads),
    isAboutPods: above.refs.length > 0,
    includes: (pod) =>
      workloads.some(
        (workload) =>
          workload.owns(pod) &&
          (direct.some((ref) => isSame(ref, workload.ref)) ||
            named.some(({ name, namespace }) => name === pod.name && namespace === pod.namespace)),
      ),
  }
}

/**
 * Opens every workload that owns one of these pods, sorted. For a request by label selector, which lists and watches the pods already. A
 * finished pod of a foreign controller, such as a Job, does not lead to a refusal of the others.
 */
export async function openOwners(pods: readonly OwnedPod[], options: OpenOptions): Promise<Workload[]> {
  return openAll(await ownersOf(pods, options, ({ finished }) => !finished), options)
}

/**
 * The one selector for the pods of several workloads. The API has no union of selectors, so for more than one workload it selects the whole
 * namespace, and the view filters the pods.
 */
export function podSelector(workloads: readonly Pick<Workload, 'selector'>[]): PodSelection {
  const [only, ...more] = workloads
  if (only !== undefined && more.length === 0) return only.selector
  return { selects: (pod) => workloads.some(({ selector }) => selector.selects?.(pod)) }
}

interface Owners {
  refs: WorkloadRef[]
  lone: Workload[]
}

/** @param isMeant decides whether a pod of a foreign controller belongs to the request */
async function ownersOf(
  pods: readonly OwnedPod[],
  options: OpenOptions,
  isMeant: (pod: OwnedPod) => boolean = () => true,
): Promise<Owners> {
  const ownershipOf = createOwnerLookup(options.client, options.kinds)
  const acceptTemplateDrift = options.acceptTemplateDrift ?? false
  const refs: WorkloadRef[] = []
  const lone: Workload[] = []
  const foreign = new Map<string, { ownership: Extract<Ownership, { type: 'foreign' }>; pods: OwnedPod[] }>()
  for (const pod of pods) {
    const ownership = await ownershipOf(pod)
    if (ownership.type === 'workload') {
      refs.push(ownership.ref)
    } else if (ownership.type === 'foreign') {
      if (!isMeant(pod)) continue
      const group = foreign.get(ownership.owner.uid) ?? { ownership, pods: [] }
      group.pods.push(pod)
      foreign.set(ownership.owner.uid, group)
    } else {
      lone.push(lonePods({ pods: [pod], ownership, acceptTemplateDrift }))
    }
  }
  for (const group of foreign.values()) lone.push(lonePods({ ...group, acceptTemplateDrift }))
  return { refs, lone }
}

/** Opens the workloads in the order of their Leases, which must be identical in every run. */
async function openAll({ refs, lone }: Owners, options: OpenOptions): Promise<Workload[]> {
  const unique = refs.filter((ref, index) => refs.findIndex((other) => isSame(ref, other)) === index)
  const results = await Promise.allSettled(unique.map((ref) => open(ref, options)))
  const opened = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  const failed = results.find((result) => result.status === 'rejected')
  if (failed) {
    await Promise.all(opened.map((workload) => workload.stop()))
    throw failed.reason
  }
  return [...opened, ...lone].sort((a, b) => (sortKey(a.ref) < sortKey(b.ref) ? -1 : 1))
}

async function open(ref: WorkloadRef, options: OpenOptions): Promise<Workload> {
  const kind = knownKind(options.kinds, ref)
  switch (kind.mechanism?.type) {
    case 'revisioned':
      return openRevisioned(ref, { kind, revisions: kind.mechanism.revisions }, options)
    case 'pods-alone':
      return openPodsAlone(ref, { kind, through: kind.mechanism.through }, options)
    case undefined:
      throw new Error(`${displayName(ref)} is opened with what owns it`)
  }
}

async function readPod(ref: WorkloadRef, { client }: OpenOptions): Promise<PodView> {
  try {
    return podView(await client.get(resourceOf(POD).object(ref.namespace, ref.name)))
  } catch (error) {
    if (isNotFound(error)) throw notFound(ref)
    throw namingTheRight(error, ['get'], POD.plural, ref.namespace)
  }
}

function isSame(one: WorkloadRef, other: WorkloadRef): boolean {
  return one.namespace === other.namespace && isSameWorkload(one, other)
}

function sortKey({ group, kind, name, namespace }: WorkloadRef): string {
  return `${namespace}/${kind}.${group}/${name}`
}
