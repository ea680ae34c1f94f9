import type { Actor } from 'xstate'
import { isVanished } from '../../../machines/pod-upgrade/facts.ts'
import type { podUpgradeMachine } from '../../../machines/pod-upgrade/index.ts'
import type { Journal, JournalTarget } from '../../pods/glossary.ts'
import { openJournal } from '../../pods/open-journal.ts'
import type { Reason } from '../../reasons/reason.ts'
import type { PodResult, PodState } from '../events.ts'
import type { PodStore } from '../../observation/pod-store.ts'
import type { Exposed } from './reload-guard.ts'
import type { Traffic } from '../traffic/traffic.ts'

/**
 * The states in which a drained pod must get no requests. A patch of the images may be on its way in `draining`, `emptying` and `patching`,
 * and an earlier run may have patched the pod.
 */
const EXPOSED = new Set<PodState>(['draining', 'emptying', 'patching', 'restarting', 'warming', 'rollingBack', 'failed'])

/** A pod with its machine. The object is the rollout's own, since it is read again after the look at its traffic. */
export interface ExposableMember {
  readonly uid: string
  readonly name: string
  readonly actor: Pick<Actor<typeof podUpgradeMachine>, 'getSnapshot' | 'send'>
  readonly state: PodState | null
  readonly result: PodResult | undefined
}

export interface ExposedPodsOptions {
  members: Iterable<ExposableMember>
  store: Pick<PodStore, 'get'>
  traffic: Pick<Traffic, 'effect'>
}

/** The pods that must get no request now. A pod that gets requests is drained again, by its machine while that takes events. */
export function exposedPods({ members, store, traffic }: ExposedPodsOptions): Exposed[] {
  return Array.from(members).flatMap((member): Exposed[] => {
    const { uid, name, actor } = member
    const record = exposedRecord(member, store)
    if (record === undefined) return []
    // A machine that has ended takes no events, and a busy machine only notes the event. So the drain is sent here for both. Only the given
    // targets are drained, since another load balancer may be slow.
    const reloaded = async (targets: readonly JournalTarget[]): Promise<void> => {
      // The process may have been stopped during the look, and the pod be back by now.
      const now = exposedRecord(member, store)
      if (now === undefined) return
      const objection = (): Reason | undefined =>
        exposedRecord(member, store) === undefined ? { code: 'no-longer-to-stay-out' } : undefined
      const { result } = member
      const isBusy = actor.getSnapshot().hasTag('busy')
      if (result === undefined) actor.send({ type: 'reloaded' })
      if (isBusy || result?.traffic === 'out')
        await traffic.effect({ uid, pod: name, effect: 'drain', record: { ...now, targets: [...targets] }, objection })
    }
    return [{ uid, record, reloaded }]
  })
}

/** The record of a pod that is out, and in no state to serve. */
function exposedRecord({ uid, actor, state }: ExposableMember, store: ExposedPodsOptions['store']): Journal | undefined {
  const { context } = actor.getSnapshot()
  const now = store.get(uid)
  // The ledger settles the targets of a gone pod. The present observation counts, since a machine that has ended takes no events, and the
  // address of a moved pod may be another pod's.
  const isThere = now !== undefined && !isVanished({ ...context, pod: now.pod })
  // A restore intent whose write was given up may have arrived. The pod must not be drained under that.
  const isToStayOut = context.record?.step === 'patched' && openJournal(now?.stored)?.step !== 'restore'
  return isThere && EXPOSED.has(state!) && isToStayOut ? context.record : undefined
}
