/** A restore of what is in a document goes on where an instance that reads the document cannot be asked. */
import type { Entry, ListCall } from './define-adapter.ts'

/** Of the time of a call, so that most of it is left for the write. */
const SHARE_OF_CALL = 1 / 4

/** What the instances show. Undefined before a restore, where one of them does not answer in time: the pod waits for the write. */
export async function lookBefore<Views>(
  look: (signal: AbortSignal) => Promise<Views>,
  { beforeRestore, deadlineMs, signal }: ListCall,
): Promise<Views | undefined> {
  if (beforeRestore === undefined) return look(signal)
  const inTime = AbortSignal.timeout(Math.max(0, Math.ceil(deadlineMs * SHARE_OF_CALL)))
  return look(AbortSignal.any([signal, inTime])).catch(() => undefined)
}

/** An entry as the document has it, of which nothing shows that it is loaded: a restore is sent, and its answer waited for. */
export function notShown(entry: Entry): Entry {
  if (entry.state === 'out') return entry
  return { ...entry, state: entry.state === 'in' ? 'draining' : 'in', becomes: entry.state }
}
