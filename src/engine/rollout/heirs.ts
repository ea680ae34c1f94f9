import type { Heir, Observation } from '../../../machines/pod-upgrade/context.ts'
import type { Journal, PodView, ReadJournal } from '../../pods/glossary.ts'
import { sharesHostAddress } from '../../pods/host-addresses.ts'
import { isSpecObserved } from '../../pods/observed-spec.ts'
import { openJournal } from '../../pods/open-journal.ts'
import { isHeirIn } from '../../workloads/kinds/heirs.ts'
import { isNamedAfter } from '../../workloads/kinds/named-in.ts'
import type { World } from '../world.ts'

/**
 * Made by the same controller; or by another ReplicaSet of the same Deployment, at the same address. Found by simulation: what
 * a run had drained stayed out for ever, since somebody had edited the template in its middle. And by trial: where a Deployment's
 * pods get ever new addresses, who had pointed the entry at another of them, as a run had asked for, was asked for it again.
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
 * It may be put back in rotation. Found by simulation (harsh seed 7513400): not yet where somebody has patched other images into it,
 * and the kubelet is about to replace what is ready.
 */
function isFitHeir(pod: PodView): boolean {
  return pod.ready && isSpecObserved(pod)
}

interface HeirOptions {
  /** What was drained for the one that is gone. */
  record: Journal | undefined
  pods: Iterable<Observation>
  /** They are known as they are now: found by simulation, it was put back by what was known before its watch broke. */
  isCurrent: boolean
  isHeir(gone: PodView, candidate: PodView): boolean
}

/** What has come in the place of a pod that was at the address its targets mean; of several, the last that is known. */
export function heirOf(gone: PodView, { record, pods, isCurrent, isHeir: isOne }: HeirOptions): Heir | null {
  let heir: Heir | null = null
  for (const { pod, stored } of pods) {
    if (pod.ip === undefined || !isOne(gone, pod)) continue
    const isDrained = isDrainedFor(stored, record)
    // One that was evicted keeps its address, and will not serve; what is open for it is settled with it.
    if (pod.finished && !isDrained) continue
    heir = { pod, sameAddress: isAtAddressOf(gone, pod), isDrained, isReady: isCurrent && isFitHeir(pod) }
  }
  return heir
}

/** Found by reading, of a dual-stack pod: the entry of its other address was put back, which was somebody else's by then. */
function isAtAddressOf({ ip, otherIps }: PodView, heir: PodView): boolean {
  // Not known of what the ledger alone still knows.
  return heir.ip === ip && (otherIps ?? []).every((other) => heir.otherIps?.includes(other))
}

/**
 * What was drained for the pod before was in rotation when it was drained for this one, or an operator had it out: its own
 * record counts. Found by simulation: he had one of two, and the other was put back in the middle of its upgrade.
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
