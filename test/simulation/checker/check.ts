/**
 * Judges a history by what the world stored, received and became. The statements of the engine count only for the messages at its end. The
 * checker imports no code of sluice: it shares no code with what it judges. docs/guarantees.md has the guarantees of each level.
 */
import type { HistoryEntry, Scenario } from './history.ts'
import { judgeDoomed, judgeOverwritten } from './rules/by-hand.ts'
import { judgeEffect, judgeLedger, judgeOrdered, judgeOwner } from './rules/effects.ts'
import { judgeEnding } from './rules/ending.ts'
import { judgeReturn, judgeStop } from './rules/exposure.ts'
import { judgeImages } from './rules/images.ts'
import { judgeAnew, judgeEpoch, judgeJournal, judgeLease } from './rules/records.ts'
import { judgeHeir, judgeRestore } from './rules/restore.ts'
import { judgeAdopted, judgeStart, judgeWindow } from './rules/window.ts'
import type { Report, Violation } from './violation.ts'
import { createWorld } from './world.ts'

export type { Violation } from './violation.ts'

export function check(history: readonly HistoryEntry[], scenario: Scenario): Violation[] {
  const world = createWorld(scenario)
  const violations: Violation[] = []
  let at = 0
  let index = 0
  const report: Report = (invariant, message, ...earlier) => {
    const entries = [...earlier.filter((entry) => entry !== undefined), index]
    violations.push({ invariant, at, message, entries: [...new Set(entries)].sort((a, b) => a - b) })
  }

  function judge(entry: HistoryEntry): void {
    // These rules judge an entry by the state before it.
    const former = journalBefore(entry)
    if (entry.type === 'effect') {
      judgeEffect(world, entry, report)
      judgeAdopted(world, entry, report)
      judgeReturn(world, entry, report)
    }
    const { write, settled = [] } = world.apply(entry, index)
    // These rules judge an entry by the state after it.
    if (entry.type === 'effect' && entry.effect === 'drain') judgeWindow(world, report)
    if (entry.type === 'container' && (entry.what === 'stopping' || entry.what === 'exited')) judgeStop(world, entry, report)
    if (entry.type === 'container' && entry.what === 'stopping')
      judgeDoomed(world, world.pods.byUid.get(entry.uid)!, entry.container, report)
    if (entry.type === 'stored')
      for (const { uid, entry: released } of settled) judgeHeir(world, uid, released, entry.leftAt ?? entry.at, report)
    if (entry.type !== 'stored' || !world.processes.has(entry.by)) return
    if (entry.resource.startsWith('leases')) for (const key of world.leases.keys()) judgeLease(world, key, index, report)
    if (entry.resource === 'configmaps') judgeLedger(world, entry, report)
    if (write === undefined) return
    const { pod, patched, isOverHis } = write
    if (patched.length > 0) judgeImages(world, pod, patched, entry.at, report)
    if (isOverHis) judgeOverwritten(world, pod, entry.by, report)
    const { journal } = pod
    if (journal === undefined || journal.entry !== index) return
    judgeOwner(world, pod, journal, report)
    if (former) judgeJournal(world, pod, former, journal, report)
    judgeEpoch(world, pod, former, report)
    // After a foreign removal of later records, an earlier owner's intent may come to light, and is taken over.
    const isFound = pod.tampered > 0 && pod.attempts.has(journal.attempt)
    const isOpened = former === undefined || former.step === 'closed'
    if (!pod.attempts.has(journal.attempt)) pod.attempts.set(journal.attempt, entry.by)
    if (journal.step === 'drain' && isOpened && !isFound) {
      judgeStart(world, pod, journal.leftAt, entry.by, report)
      judgeAnew(pod, entry.by, report)
      judgeOrdered(world, pod, journal, report)
    }
    // A successor writes the intent again as its own before it looks. This is no new intent.
    const isClaimed = former?.step === 'restore' && former.attempt === journal.attempt
    if (journal.step !== 'restore' || isClaimed) return
    judgeRestore(world, pod, journal.leftAt, report)
    pod.readmittedBy = pod.patch === undefined ? entry.by : undefined
  }

  function journalBefore(entry: HistoryEntry) {
    if (entry.type !== 'stored' || entry.resource !== 'pods') return undefined
    const uid = ((entry.after ?? entry.before) as { metadata: { uid: string } } | undefined)?.metadata.uid
    const pod = uid === undefined ? undefined : world.pods.byUid.get(uid)
    return pod?.journal && world.isVoid(pod) ? { ...pod.journal, step: 'closed' as const } : pod?.journal
  }

  for (const entry of history) {
    at = entry.at
    judge(entry)
    index += 1
  }
  index = Math.max(0, history.length - 1)
  judgeEnding(world, report)
  return violations
}
