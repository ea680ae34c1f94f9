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
 * Out, and in no state to serve; also where an images patch is still on its way, which may take long, and where an earlier run
 * has made one that another is to follow.
 */
const EXPOSED = new Set<PodState>(['draining', 'emptying', 'patching', 'restarting', 'warming', 'rollingBack', 'failed'])

/** A pod that has its machine: the rollout's own, not a copy, since it is looked at again once its traffic has been read. */
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

/** Those that must get no request now. One that does get some is drained again: by its machine, as long as that hears. */
export function exposedPods({ members, store, traffic }: ExposedPodsOptions): Exposed[] {
  return Array.from(members).flatMap((member): Exposed[] => {
    const { uid, name, actor } = member
    const record = exposedRecord(member, store)
    if (record === undefined) return []
    // At its end a machine hears nothing any more, while a pod that failed stays out for as long as the run goes on; and a write or
    // a call that is under way is waited out: that one only notes it. Of the others of its targets one may be down, and take its
    // time: it is not asked again here.
    const reloaded = async (targets: readonly JournalTarget[]): Promise<void> => {
      // Found by simulation: a process was stopped while it asked, and the pod was back when it went on.
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
  // What is left of one that is gone is settled by the ledger, whatever its record says. As it is now: at its end a machine hears
  // nothing any more, and the address of a pod that has moved since may be another's.
  const isThere = now !== undefined && !isVanished({ ...context, pod: now.pod })
  // An intent of its restore that was given up may have arrived after all: under that nothing is drained.
  const isToStayOut = context.record?.step === 'patched' && openJournal(now?.stored)?.step !== 'restore'
  return isThere && EXPOSED.has(state!) && isToStayOut ? context.record : undefined
}
