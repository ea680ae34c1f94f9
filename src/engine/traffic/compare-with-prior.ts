import type { Json } from '../../../adapters/contract.ts'
import type { CompareAnswer } from '../../../machines/pod-upgrade/ports.ts'
import type { JournalTarget } from '../../pods/glossary.ts'
import type { LoadBalancerEntry } from '../../reasons/fields.ts'
import { reasonOf } from '../errors.ts'
import type { Balancers } from './balancers.ts'
import type { Knowledge } from './knowledge.ts'
import { canonical, entryReading } from './reading.ts'
import { plain } from './target-key.ts'

/** Are the targets as they were before their drain, and do they get requests? */
export async function compareWithPrior(
  { isReadable, queueOf }: Balancers,
  { stateOf, hasCaughtUp, hasSettled, effects, note }: Knowledge,
  targets: readonly JournalTarget[],
): Promise<CompareAnswer> {
  try {
    for (const target of targets.filter(({ untouched }) => !untouched)) {
      if (!isReadable(target)) {
        const state = stateOf(target)
        if (state === 'in') continue
        // Found by reading: a restore that had not left was not sent again, since nothing was to be seen of it.
        if (state === 'out') return { kind: 'different', reason: { code: 'entry-is-out', ...entryOf(target) } }
        return { kind: 'unknown', reason: { code: 'entry-cannot-read-back', ...entryOf(target) } }
      }
      // Also where it reads as it should: the next look at it, by whoever comes then, must not see it drained.
      if (!hasCaughtUp(target))
        return { kind: 'unknown', reason: { code: 'reading-may-be-old', loadBalancer: target.loadBalancer } }
      const before = canonical(target.prior as Json)
      const now = target.said === 'in' ? before : canonical((await queueOf(target).snapshot(plain(target))).prior)
      if (now !== before) {
        if (!hasSettled(target)) return { kind: 'unknown', reason: { code: 'restore-may-not-show', ...entryOf(target) } }
        const reason = { code: 'entry-differs', ...entryOf(target), now, before } as const
        // One that answers at once and does it later; what somebody else has done to it is no drain.
        const asOf = effects()
        const { admin, routable } = await queueOf(target).inspect(plain(target))
        const drained = admin === 'draining' && !routable
        // Found by reading: a G2 took the restore of an heir for one that it had done before, and was sent the same again and again.
        if (drained) note(target, 'out', asOf)
        return { kind: 'different', reason, ...(drained ? { drained } : {}) }
      }
      // Its own health checks may be behind the pod's: home is who gets requests, else the next pod leaves too early.
      const reading = await queueOf(target).inspect(plain(target))
      if (!reading.routable)
        return { kind: 'unknown', reason: { code: 'gets-no-requests', entry: entryReading(target, reading) } }
    }
    return { kind: 'equal' }
  } catch (error) {
    return { kind: 'unknown', reason: reasonOf(error) }
  }
}

function entryOf({ loadBalancer, target }: JournalTarget): LoadBalancerEntry {
  return { loadBalancer, target }
}
