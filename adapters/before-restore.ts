/** Reads before a restore. A restore of a document continues if an instance that reads the document does not answer. */
import type { Entry, ListCall } from './define-adapter.ts'

/** The share of the time of a call for this read. The write needs most of the time. */
const SHARE_OF_CALL = 1 / 4

/**
 * The state that the instances show. Undefined before a restore if an instance does not answer in time, because the pod waits for the
 * write.
 */
export async function lookBefore<Views>(
  look: (signal: AbortSignal) => Promise<Views>,
  { beforeRestore, deadlineMs, signal }: ListCall,
): Promise<Views | undefined> {
  if (beforeRestore === undefined) return look(signal)
  const inTime = AbortSignal.timeout(Math.max(0, Math.ceil(deadlineMs * SHARE_OF_CALL)))
  return look(AbortSignal.any([signal, inTime])).catch(() => undefined)
}

/** An entry of the document without proof that the instances have loaded it. The adapter sends the restore and waits for its answer. */
export function notShown(entry: Entry): Entry {
  if (entry.state === 'out') return entry
  return { ...entry, state: entry.state === 'in' ? 'draining' : 'in', becomes: entry.state }
}
