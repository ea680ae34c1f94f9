import type { Journal, ReadJournal } from './glossary.ts'

/** The journal of a pod if it is open: it allows drains, patches or restores. An unreadable journal gives undefined. */
export function openJournal(stored: ReadJournal | undefined): Journal | undefined {
  return stored?.kind === 'read' && stored.journal.step !== 'closed' ? stored.journal : undefined
}

export function isOpen(stored: ReadJournal | undefined): boolean {
  return openJournal(stored) !== undefined
}

/** True also for an unreadable journal. */
export function mayBeOpen(stored: ReadJournal | undefined): boolean {
  return isOpen(stored) || stored?.kind === 'unreadable'
}
