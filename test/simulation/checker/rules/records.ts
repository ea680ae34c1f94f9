import type { JournalText } from '../journal.ts'
import { holdersAt } from '../leases.ts'
import type { Pod } from '../pods.ts'
import { leaseOf } from '../pods.ts'
import { isProcess } from '../processes.ts'
import type { Report } from '../violation.ts'
import type { World } from '../world.ts'

/** I4: judges a journal over another journal of the same pod. */
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
  // An operator says that the pod is out after its restore intent. That begins a new attempt, since the restore of the old one may be known
  // as done.
  const isSaid = before.step === 'restore' && processes.get(after.by)?.isWord === true
  const isNext = after.attempt === before.attempt + 1 && (before.step === 'closed' || isSaid)
  if (after.attempt > before.attempt && !isNext)
    report('I4', `the attempt of ${name} goes from ${before.attempt} (${before.step}) to ${after.attempt}`, before.entry)
  if (after.attempt === before.attempt && before.step === 'closed' && after.step !== 'closed')
    report('I4', `attempt ${after.attempt} of ${name} is opened again`, before.entry)
}

/**
 * I4: judges the epoch of a journal that was just stored. No two owners write in one epoch, for any pods of the workload, and the holder of
 * a Lease never writes in an earlier epoch than another owner. A deleted Lease may be made again with an old epoch by a delayed write,
 * which is excused.
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

/** I1: judges the drain intent of a new attempt. A process that has put a pod back unpatched does not drain it again. */
export function judgeAnew({ name, readmittedBy }: Pod, by: string, report: Report): void {
  if (readmittedBy === by)
    report('I1', `${name} is to be drained a second time by ${by}, which has put it back with nothing patched`)
}

/** I4: judges the epoch of a Lease. The count ends with a deleted Lease; then `judgeEpoch` judges the writes of the next owner. */
export function judgeLease(world: World, key: string, entry: number, report: Report): void {
  const [before, after] = world.leases.get(key)?.slice(-2) ?? []
  if (before === undefined || before.isDeleted || after?.entry !== entry) return
  if (after.transitions < before.transitions)
    report('I4', `the epoch of a Lease goes from ${before.transitions} back to ${after.transitions}`, before.entry)
}
