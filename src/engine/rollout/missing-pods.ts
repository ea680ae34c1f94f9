import type { WindowPod } from '../../plan/window.ts'
import type { PodView } from '../../pods/glossary.ts'
import { displayName } from '../../pods/workload-id.ts'
import type { Reason, ReasonOf } from '../../reasons/reason.ts'
import type { Workload } from '../../workloads/workload.ts'

/** A workload, as far as it says how many pods there should be. */
export type PodOwner = Pick<Workload, 'ref' | 'uid' | 'owns' | 'desired' | 'replaces'>

/** False where it serves nobody from here on, and another comes in its place if one is to. */
export function isThere({ deleting, finished }: PodView): boolean {
  return !deleting && !finished
}

/**
 * Pods that controllers are still to make. Found by simulation: between the end of a pod and the start of the one in its place
 * no object stands for either, and a window that counts objects lets another pod leave then. Decided by what there is and what
 * there should be: who begins in that moment has seen nobody go.
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
  /** Its pods that are Terminating: another comes in place of each only once it is gone. */
  leaving: { pod: string; because: Reason }[]
}

function shortages(workloads: readonly PodOwner[], pods: Iterable<PodView>): Shortage[] {
  // Whose an owner's pods are is asked once, and not for every pod.
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
      // Found by simulation (seed 44705176): one that was scaled away, and not deleted yet, stood for another that was.
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
