import type { JournalText } from '../journal.ts'
import type { Pod } from '../pods.ts'
import type { Report } from '../violation.ts'
import type { World } from '../world.ts'
import { leaseOf } from './effects.ts'

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

/** I1: the drain intent of a new attempt has just been stored. Who puts a pod back unpatched is done with it. */
export function judgeAnew({ name, readmittedBy }: Pod, by: string, report: Report): void {
  if (readmittedBy === by)
    report('I1', `${name} is to be drained a second time by ${by}, which has put it back with nothing patched`)
}

/** I4: the epoch of a Lease. With one that is deleted goes its count; one that is made in its place begins above what journals say. */
export function judgeLease(world: World, key: string, entry: number, report: Report): void {
  const [before, after] = world.leases.get(key)?.slice(-2) ?? []
  if (before === undefined || after?.entry !== entry) return
  if (!before.isDeleted) {
    if (after.transitions < before.transitions)
      report('I4', `the epoch of a Lease goes from ${before.transitions} back to ${after.transitions}`, before.entry)
    return
  }
  // The first write of its owner has come once more (seed 70000810), or that of one that is dead comes late (seed 94016617).
  if (after.holder === before.holder || world.processes.get(after.by)?.isRunning === false) return
  for (const pod of world.pods.byUid.values()) {
    const { name, journal, tampered } = pod
    if (journal === undefined || tampered > 0 || leaseOf(pod) !== key || after.transitions > journal.epoch) continue
    report('I4', `a Lease is made anew with the epoch ${after.transitions}, and ${name} has seen ${journal.epoch}`, journal.entry)
  }
}
