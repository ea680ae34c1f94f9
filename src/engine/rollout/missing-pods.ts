import type { WindowPod } from '../../plan/window.ts'
import type { PodView } from '../../pods/glossary.ts'
import { displayName } from '../../pods/workload-id.ts'
import type { Reason, ReasonOf } from '../../reasons/reason.ts'
import type { Workload } from '../../workloads/workload.ts'

/** The fields of a workload that tell how many pods it should have. */
export type PodOwner = Pick<Workload, 'ref' | 'uid' | 'owns' | 'desired' | 'replaces'>

/** False for a pod that will serve no more. Its controller makes another one if one is due. */
export function isThere({ deleting, finished }: PodView): boolean {
  return !deleting && !finished
}

/**
 * The pods that controllers are still to make. Between the end of a pod and the start of its replacement no object stands for either, and
 * the window would let another pod leave. The count compares present with desired pods, since a new process has not seen the pod go.
 */
export function missingPods(workloads: readonly PodOwner[], pods: Iterable<PodView>): WindowPod[] {
  return shortages(workloads, pods).flatMap(({ workload, desired, present, leaving }) =>
    Array.from({ length: desired - present }, (_, index) => missingOf(workload, index, leaving[index])),
  )
}

/** The workloads that lack pods. */
export function shortageReasons(workloads: readonly PodOwner[], pods: Iterable<PodView>): ReasonOf<'lacks-pods'>[] {
  return shortages(workloads, pods).map(({ workload: { ref }, desired, present, leaving }) => ({
    code: 'lacks-pods',
    workload: displayName(ref),
    present,
    desired,
    leaving,
  }))
}

interface Shortage {
  workload: PodOwner
  desired: number
  present: number
  /** The Terminating pods. A replacement comes only once such a pod is gone. */
  leaving: { pod: string; because: Reason }[]
}

function shortages(workloads: readonly PodOwner[], pods: Iterable<PodView>): Shortage[] {
  // The workloads of an owner are looked up once, and not for every pod.
  const keepers = new Map<string, PodOwner[]>()
  const present = new Map<PodOwner, number>()
  const leaving = new Map<PodOwner, Shortage['leaving']>()
  for (const pod of pods) {
    if (pod.owner === undefined || (!isThere(pod) && !pod.deletion)) continue
    const keeping = keepers.get(pod.owner.uid) ?? workloads.filter((one) => one.owns(pod))
    keepers.set(pod.owner.uid, keeping)
    for (const workload of keeping) {
      if (pod.deletion) {
        const because = { code: 'terminating', ...pod.deletion } as const
        leaving.set(workload, [...(leaving.get(workload) ?? []), { pod: pod.name, because }])
      }
      if (!isThere(pod)) continue
      // A pod that was scaled away and is not deleted yet does not stand for another one.
      if (workload.replaces(pod)) present.set(workload, (present.get(workload) ?? 0) + 1)
    }
  }
  return workloads
    .map((workload) => ({
      workload,
      desired: workload.desired() ?? 0,
      present: present.get(workload) ?? 0,
      leaving: leaving.get(workload) ?? [],
    }))
    .filter((one) => one.present < one.desired)
}

function missingOf({ ref, uid }: PodOwner, index: number, leaving: Shortage['leaving'][number] | undefined): WindowPod {
  const name = displayName(ref)
  const pod = {
    uid: `${uid} lacks ${index}`,
    name,
    standing: 'missing',
    ready: false,
    operatorOut: 'none',
    unserved: false,
  } as const
  return leaving === undefined ? pod : { ...pod, leaving }
}
