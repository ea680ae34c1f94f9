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

/** What a request by name means. */
export interface NamedWorkloads {
  /** Sorted, each once; a pod that was named stands under its owner. */
  workloads: Workload[]
  /** For the one view of pods. */
  selector: PodSelection
  /** The pods that the request is about: of a workload that was named, or named themselves. */
  includes(pod: PodView): boolean
  /** Some pods were named, and their workloads may have others. */
  isAboutPods: boolean
}

/** Opens one workload. For a pod it is the one that stands above it: its owner, or a workload of that pod alone. */
export async function openWorkload(ref: WorkloadRef, options: OpenOptions): Promise<Workload> {
  const { workloads } = await openNamed([ref], options)
  return workloads[0]!
}

/**
 * Opens what was asked for by name. Costs one LIST and WATCH for each workload and one for what its controller made
 * for it, and one GET for each pod that was named.
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
 * Opens every workload that stands above these pods, sorted: for a request by label selector, where one list and watch
 * of pods is there already. What a Job or the like has left behind at its end is no reason to refuse the others.
 */
export async function openOwners(pods: readonly OwnedPod[], options: OpenOptions): Promise<Workload[]> {
  return openAll(await ownersOf(pods, options, ({ finished }) => !finished), options)
}

/**
 * The one selector for the pods of several workloads. There is no union of selectors, so for more than one workload it
 * is the feed of the whole namespace, of which the view has theirs.
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

/** @param isMeant of pods that a foreign controller owns */
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

/** In the order in which their Leases are taken, which must be the same for every run. */
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
