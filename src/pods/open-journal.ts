import type { Journal, ReadJournal } from './glossary.ts'

/**
 * The journal under which something may be drained, patched or about to be put back for the pod. One that cannot be
 * read is not known to be open.
 */
export function openJournal(stored: ReadJournal | undefined): Journal | undefined {
  return stored?.kind === 'read' && stored.journal.step !== 'closed' ? stored.journal : undefined
}

export function isOpen(stored: ReadJournal | undefined): boolean {
  return openJournal(stored) !== undefined
}

/** Also where that cannot be told. */
export function mayBeOpen(stored: ReadJournal | undefined): boolean {
  return isOpen(stored) || stored?.kind === 'unreadable'
}
