import { pause } from '../../kube/pause.ts'
import type { JournalTarget } from '../../pods/glossary.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Reason } from '../../reasons/reason.ts'
import { reasonOf } from '../errors.ts'
import type { Balancers } from './balancers.ts'
import type { Knowledge } from './knowledge.ts'
import type { Observed } from './reading.ts'
import { isGone, isOut } from './reading.ts'
import { keyOf, plain } from './target-key.ts'

/** For so long after it was asked for, that a target is out counts. */
const FRESH_MS = 1_000

/** After so long, an entry that is not there is asked for once more: a list may be short while its load balancer comes up. */
export const GONE_FOR_MS = 2_000

/**
 * What each target is at this moment, in their order. `wasOut`: one that cannot be read, and of which nothing is known, is
 * taken to be out.
 */
export type AskTargets = (targets: readonly JournalTarget[], wasOut: boolean) => Promise<Observed[]>

export function createAskTargets(clock: Clock, { queueOf, isReadable }: Balancers, { answers }: Knowledge): AskTargets {
  /** Targets that were not there when they were asked for last. */
  const gone = new Set<string>()

  function observe(target: JournalTarget, wasOut: boolean): Promise<Observed> {
    if (isReadable(target)) return queueOf(target).inspect(plain(target))
    if (wasOut && answers.stateOf(target) === undefined) answers.note(target, 'out')
    return Promise.resolve(answers.observe(target))
  }

  /** What a person says counts where the load balancer does not: never against what it says itself. */
  async function observeOrBelieve(target: JournalTarget, wasOut: boolean): Promise<Observed> {
    if (target.said === undefined) return observe(target, wasOut)
    const observation = await observe(target, wasOut).catch((error: unknown) => unreadable(reasonOf(error)))
    if (observation.admin !== 'unknown') return observation
    const routable = target.said === 'in'
    return { admin: target.said, routable, inFlight: null, by: { code: 'said-by-person' } }
  }

  /**
   * Found by reading: what one had said at once was ten seconds old by the time that another had answered, and a pod was patched
   * that had been put back meanwhile; or the process was stopped while the answer lay there. Asked once more, and no more than
   * that: one may always take its time. Only what is out: who is seen to get requests is to be drained now.
   * What is not there for the first time is asked for once more too, after a pause: by one short list a drained pod that was gone
   * was called settled, and its entry was out for good.
   */
  return async (targets, wasOut) => {
    const read = async (target: JournalTarget): Promise<{ observation: Observed; askedAt: number }> => {
      const askedAt = clock.now()
      // Found by simulation: that one could not be asked at this moment hid that another can never be.
      const observation = target.untouched
        ? await queueOf(target).inspect(plain(target))
        : await observeOrBelieve(target, wasOut).catch((error: unknown) => unreadable(reasonOf(error)))
      return { observation, askedAt }
    }
    const readings = await Promise.all(targets.map(read))
    const isNew = ({ observation }: (typeof readings)[number], index: number): boolean =>
      isGone(observation) && !gone.has(keyOf(targets[index]!))
    if (readings.some(isNew)) await pause(clock, GONE_FOR_MS)
    const sinceMs = clock.now() - FRESH_MS
    const isStale = ({ observation, askedAt }: (typeof readings)[number]): boolean => askedAt < sinceMs && isOut(observation)
    const fresh = await Promise.all(readings.map((one, index) => (isStale(one) ? read(targets[index]!) : one)))
    return fresh.map(({ observation }, index) => {
      const key = keyOf(targets[index]!)
      if (isGone(observation)) gone.add(key)
      else gone.delete(key)
      return observation
    })
  }
}

function unreadable(by: Reason): Observed {
  return { admin: 'unknown', routable: true, inFlight: null, by }
}
