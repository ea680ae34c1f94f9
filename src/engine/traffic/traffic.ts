import type { CompareAnswer, RelocateAnswer, SnapshotAnswer } from '../../../machines/pod-upgrade/ports.ts'
import type { JournalTarget } from '../../pods/glossary.ts'
import type { Clock } from '../../ports/clock.ts'
import type { RunEventBody } from '../events.ts'
import { createAskTargets } from './ask-targets.ts'
import { createBalancers } from './balancers.ts'
import { compareWithPrior } from './compare-with-prior.ts'
import type { Effects } from './effects.ts'
import { createEffects } from './effects.ts'
import type { Found, Listener, Where } from './find-targets.ts'
import { findTargets } from './find-targets.ts'
import type { Inspect } from './inspect-targets.ts'
import { createInspect } from './inspect-targets.ts'
import { createKnowledge } from './knowledge.ts'
import { createKnownEntries } from './known-entries.ts'
import { relocate } from './relocate.ts'
import type { ScopeQueues } from './scope-queues.ts'
import { takeSnapshot } from './take-snapshot.ts'

/** All load balancers of a run. The machine of a pod sees the targets in all of them as one. */
export interface Traffic extends Effects {
  /** Finds each pod in the load balancers, in the order of the pods. Throws an AdapterError where a load balancer cannot be asked. */
  find(pods: readonly Listener[]): Promise<Found[]>
  snapshot(pod: Listener): Promise<SnapshotAnswer>
  inspect: Inspect
  compare(targets: readonly JournalTarget[]): Promise<CompareAnswer>
  /** `isItself`: the pod is the one for which the targets were drained. */
  relocate(pod: Listener, targets: readonly JournalTarget[], isItself?: boolean): Promise<RelocateAnswer>
  /** The milliseconds from the drain until no new request arrives, by the slowest of these load balancers. */
  settleMs(targets: readonly JournalTarget[]): number
  /** Reports whether an effect on the pod's targets without an answer, which another effect has followed, may still arrive. */
  hasOvertaken(uid: string): boolean
  /** The milliseconds until no effect on the pod's targets without an answer is under way any more. */
  lateMs(uid: string): number
  /** Reports whether one of these load balancers may forget a drain by itself. */
  isVolatile(targets: readonly JournalTarget[]): boolean
}

export interface TrafficOptions extends Where {
  clock: Clock
  queues: ScopeQueues
  /** Throws where this process may not act for the pod now. */
  assertOwned(uid: string): void
  tell(event: RunEventBody): void
}

export function createTraffic({ clock, loadBalancers, queues, allowUnbalanced, assertOwned, tell }: TrafficOptions): Traffic {
  const where = { loadBalancers, allowUnbalanced }
  const balancers = createBalancers(queues, loadBalancers)
  const knowledge = createKnowledge(clock, balancers)
  const entries = createKnownEntries()
  const ask = createAskTargets(clock, balancers, knowledge)
  const { capabilitiesOf } = balancers
  const { hasOvertaken, lateMs } = knowledge.doubts

  return {
    ...createEffects({ clock, balancers, knowledge, assertOwned, tell }),
    async find(pods) {
      const found = await findTargets(where, pods)
      pods.forEach((pod, index) => entries.note(pod, found[index]!))
      return found
    },
    snapshot: (pod) => takeSnapshot({ ...where, clock, entries, balancers, knowledge }, pod),
    inspect: createInspect({ balancers, knowledge, ask, tell }),
    compare: (targets) => compareWithPrior(balancers, knowledge, targets),
    relocate: (pod, targets, isItself = false) => relocate({ ...where, clock, balancers, ask, isItself }, pod, targets),
    settleMs: (targets) => Math.max(0, ...capabilitiesOf(targets).map(({ settleMs }) => settleMs)),
    hasOvertaken,
    lateMs,
    isVolatile: (targets) => capabilitiesOf(targets).some(({ volatileOnReload }) => volatileOnReload),
  }
}
