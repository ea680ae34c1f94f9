import type { Heir, Observation } from '../../../machines/pod-upgrade/context.ts'
import type { Journal, PodView, ReadJournal } from '../../pods/glossary.ts'
import { sharesHostAddress } from '../../pods/host-addresses.ts'
import { isSpecObserved } from '../../pods/observed-spec.ts'
import { openJournal } from '../../pods/open-journal.ts'
import { isHeirIn } from '../../workloads/kinds/heirs.ts'
import { isNamedAfter } from '../../workloads/kinds/named-in.ts'
import type { World } from '../world.ts'

/**
 * Tells the replacement of a gone pod: a pod of the same controller, or of another ReplicaSet of the same Deployment at the same address.
 * The template may change during a run, which makes a new ReplicaSet. A pod at which an operator has pointed the entry counts as well.
 */
export function heirsIn({
  kinds,
  workloadOf,
  drainedFor,
}: Pick<World, 'kinds' | 'workloadOf' | 'drainedFor'>): (gone: PodView, candidate: PodView) => boolean {
  const isHeir = isHeirIn(kinds)
  return (gone, candidate) => isHeir(gone, candidate) || isOfOneWorkload(gone, candidate)

  function isOfOneWorkload(gone: PodView, candidate: PodView): boolean {
    if (candidate.uid === gone.uid || candidate.deleting || candidate.ip === undefined) return false
    const isThere = candidate.ip === gone.ip || sharesHostAddress(gone, candidate)
    if (!isThere && drainedFor(candidate.uid) !== gone.uid) return false
    const workload = workloadOf(candidate)?.workload
    if (workload?.kind.mechanism?.type !== 'pods-alone') return false
    const before = workloadOf(gone)?.workload
    return before === undefined ? isNamedAfter(kinds, workload.ref, gone) : before === workload
  }
}

/**
 * Reports whether the replacement may be put in rotation. A pod with other images patched in is not fit, since the kubelet is about to
 * replace its container.
 */
function isFitHeir(pod: PodView): boolean {
  return pod.ready && isSpecObserved(pod)
}

interface HeirOptions {
  /** The record of the drain for the gone pod. */
  record: Journal | undefined
  pods: Iterable<Observation>
  /** Whether the observation is current. Nothing is restored by an observation from before a watch broke. */
  isCurrent: boolean
  isHeir(gone: PodView, candidate: PodView): boolean
}

/** The replacement of the pod at the address of its targets. Of several, the last known one counts. */
export function heirOf(gone: PodView, { record, pods, isCurrent, isHeir: isOne }: HeirOptions): Heir | null {
  let heir: Heir | null = null
  for (const { pod, stored } of pods) {
    if (pod.ip === undefined || !isOne(gone, pod)) continue
    const isDrained = isDrainedFor(stored, record)
    // An evicted pod keeps its address and will not serve. Its own open record is settled with it.
    if (pod.finished && !isDrained) continue
    heir = { pod, sameAddress: isAtAddressOf(gone, pod), isDrained, isReady: isCurrent && isFitHeir(pod) }
  }
  return heir
}

/** Reports whether the pod has all addresses of the gone pod. The other address of a dual-stack pod may be another pod's. */
function isAtAddressOf({ ip, otherIps }: PodView, heir: PodView): boolean {
  // The other addresses are unknown for a pod that only the ledger knows.
  return heir.ip === ip && (otherIps ?? []).every((other) => heir.otherIps?.includes(other))
}

/**
 * Reports whether the gone pod's targets were drained for this pod as well, so that its own record counts. Targets that an operator had out
 * count in that record too: otherwise a restore for the gone pod would come in the middle of the upgrade.
 */
function isDrainedFor(stored: ReadJournal, before: Journal | undefined): boolean {
  const own = openJournal(stored)
  const left = touched(before)
  const isIn =
    (targets: Journal['targets']) =>
    (one: Journal['targets'][number]): boolean =>
      targets.some(
        ({ loadBalancer, scope, target }) => loadBalancer === one.loadBalancer && scope === one.scope && target === one.target,
      )
  return left.some(isIn(touched(own))) && left.every(isIn(own?.targets ?? []))
}

function touched(journal: Journal | undefined): Journal['targets'] {
  return journal?.targets.filter(({ untouched }) => !untouched) ?? []
}
