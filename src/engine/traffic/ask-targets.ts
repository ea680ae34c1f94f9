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

/** The time for which an answer "out" counts after its request. */
const FRESH_MS = 1_000

/** The wait before a missing entry is asked for again. A list may be short while its load balancer starts. */
export const GONE_FOR_MS = 2_000

/**
 * Reads the present state of each target, in the order of the targets. With `wasOut`, an unreadable target without a known state counts as
 * out.
 */
export type AskTargets = (targets: readonly JournalTarget[], wasOut: boolean) => Promise<Observed[]>

export function createAskTargets(clock: Clock, { queueOf, isReadable }: Balancers, { answers }: Knowledge): AskTargets {
  /** The targets that were missing at the last request. */
  const gone = new Set<string>()

  function observe(target: JournalTarget, wasOut: boolean): Promise<Observed> {
    if (isReadable(target)) return queueOf(target).inspect(plain(target))
    if (wasOut && answers.stateOf(target) === undefined) answers.note(target, 'out')
    return Promise.resolve(answers.observe(target))
  }

  /**
   * Reads a target, and uses a person's statement where the load balancer does not tell the state. The load balancer's answer counts first.
   */
  async function observeOrBelieve(target: JournalTarget, wasOut: boolean): Promise<Observed> {
    if (target.said === undefined) return observe(target, wasOut)
    const observation = await observe(target, wasOut).catch((error: unknown) => unreadable(reasonOf(error)))
    if (observation.admin !== 'unknown') return observation
    const routable = target.said === 'in'
    return { admin: target.said, routable, inFlight: null, by: { code: 'said-by-person' } }
  }

  /**
   * A target that is out is asked for again, once, where another load balancer took so long that the answer is old: the pod must not be
   * patched by an old "out". A target that is in is not asked again, since it must be drained now. An entry that is missing for the first
   * time is asked for again after a pause, since a list may be short.
   */
  return async (targets, wasOut) => {
    const read = async (target: JournalTarget): Promise<{ observation: Observed; askedAt: number }> => {
      const askedAt = clock.now()
      // A target that cannot be read now must not hide another target that can never be read.
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
