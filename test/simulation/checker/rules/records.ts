import type { JournalText } from '../journal.ts'
import { holdersAt } from '../leases.ts'
import type { Pod } from '../pods.ts'
import { leaseOf } from '../pods.ts'
import { isProcess } from '../processes.ts'
import type { Report } from '../violation.ts'
import type { World } from '../world.ts'

/** I4: a journal over another one of the same pod. */
export function judgeJournal(
  { processes }: World,
  { name }: Pod,
  before: NonNullable<Pod['journal']>,
  after: JournalText & { by: string },
  report: Report,
): void {
  if (after.epoch < before.epoch)
    report('I4', `the epoch of ${name} goes from ${before.epoch} back to ${after.epoch}`, before.entry)
  if (after.attempt < before.attempt)
    report('I4', `the attempt of ${name} goes from ${before.attempt} back to ${after.attempt}`, before.entry)
  if (after.epoch === before.epoch && after.run !== before.run)
    report('I4', `the journal of ${name} goes from run ${before.run} to ${after.run} in the same epoch`, before.entry)
  // What was put back, as a person says, is out: that begins another, since this one's restore may be known as done.
  const isSaid = before.step === 'restore' && processes.get(after.by)?.isWord === true
  const isNext = after.attempt === before.attempt + 1 && (before.step === 'closed' || isSaid)
  if (after.attempt > before.attempt && !isNext)
    report('I4', `the attempt of ${name} goes from ${before.attempt} (${before.step}) to ${after.attempt}`, before.entry)
  if (after.attempt === before.attempt && before.step === 'closed' && after.step !== 'closed')
    report('I4', `attempt ${after.attempt} of ${name} is opened again`, before.entry)
}

/**
 * I4: the journal of this pod has just been stored. No two owners write in one epoch, about whichever pods of the workload; nor
 * does the holder of the Lease write in an earlier one than another has. That a Lease is made with such an epoch nobody can help:
 * one that was deleted may be made anew by a write that was long on its way (seeds 94016617, 44733549).
 */
export function judgeEpoch(world: World, pod: Pod, before: Pod['journal'], report: Report): void {
  const { epoch, by, leftAt } = pod.journal!
  if (pod.tampered > 0) return
  const lease = leaseOf(pod)
  const isOwner = holdersAt(world, leftAt, lease).some((holder) => isProcess(holder, by))
  for (const one of world.pods.byUid.values()) {
    const journal = one === pod ? before : one.journal
    if (journal === undefined || journal.by === by || one.tampered > 0 || leaseOf(one) !== lease) continue
    const isLater = journal.epoch > epoch && journal.at < leftAt && isOwner
    if (journal.epoch !== epoch && !isLater) continue
    report(
      'I4',
      `${by} writes in epoch ${epoch} of ${pod.name}, and ${journal.by} in ${journal.epoch} of ${one.name}`,
      journal.entry,
    )
  }
}

/** I1: the drain intent of a new attempt has just been stored. Who puts a pod back unpatched is done with it. */
export function judgeAnew({ name, readmittedBy }: Pod, by: string, report: Report): void {
  if (readmittedBy === by)
    report('I1', `${name} is to be drained a second time by ${by}, which has put it back with nothing patched`)
}

/** I4: the epoch of a Lease. With one that is deleted goes its count: what its next owner writes is judged then. */
export function judgeLease(world: World, key: string, entry: number, report: Report): void {
  const [before, after] = world.leases.get(key)?.slice(-2) ?? []
  if (before === undefined || before.isDeleted || after?.entry !== entry) return
  if (after.transitions < before.transitions)
    report('I4', `the epoch of a Lease goes from ${before.transitions} back to ${after.transitions}`, before.entry)
}
