import type { Json } from '../../../adapters/contract.ts'
import type { CompareAnswer } from '../../../machines/pod-upgrade/ports.ts'
import type { JournalTarget } from '../../pods/glossary.ts'
import type { LoadBalancerEntry } from '../../reasons/fields.ts'
import { reasonOf } from '../errors.ts'
import type { Balancers } from './balancers.ts'
import type { Knowledge } from './knowledge.ts'
import { canonical, entryReading } from './reading.ts'
import { plain } from './target-key.ts'

/** Compares the targets with their state before the drain, and checks that they get requests. */
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
        // A target known to be out differs. Its restore may not have left, and is sent again then.
        if (state === 'out') return { kind: 'different', reason: { code: 'entry-is-out', ...entryOf(target) } }
        return { kind: 'unknown', reason: { code: 'entry-cannot-read-back', ...entryOf(target) } }
      }
      // A reading that may be old does not count even where it is as wanted: the next process must not see the target drained.
      if (!hasCaughtUp(target))
        return { kind: 'unknown', reason: { code: 'reading-may-be-old', loadBalancer: target.loadBalancer } }
      const before = canonical(target.prior as Json)
      const now = target.said === 'in' ? before : canonical((await queueOf(target).snapshot(plain(target))).prior)
      if (now !== before) {
        if (!hasSettled(target)) return { kind: 'unknown', reason: { code: 'restore-may-not-show', ...entryOf(target) } }
        const reason = { code: 'entry-differs', ...entryOf(target), now, before } as const
        // The load balancer may answer at once and act later. A change by another writer is no drain.
        const asOf = effects()
        const { admin, routable } = await queueOf(target).inspect(plain(target))
        const drained = admin === 'draining' && !routable
        // The reading is noted. A load balancer that takes the restore for one that it did before then gets another operation id.
        if (drained) note(target, 'out', asOf)
        return { kind: 'different', reason, ...(drained ? { drained } : {}) }
      }
      // The health checks of the load balancer may lag behind the pod's. A pod is home once it gets requests.
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
