import type { Writer } from '../reasons/fields.ts'
import type { Context } from './context.ts'
import type { SeenEndpoints } from './events.ts'
import { UNDO_WITHIN_MS } from './limits.ts'

/** Finds two clients that each put back their own addresses after the other has written. */
export interface WriterHistory {
  /** Notes a write that has changed the content, or the first content that is seen. */
  wrote(endpoints: SeenEndpoints, content: string): void
  gone(uid: string): void
}

interface Write {
  at: number
  by: Writer
  content: string
}

/** The number of writes in a finding: two of each client. */
const ROUNDS = 4

export function createWriterHistory(context: Context, cluster: string): WriterHistory {
  const histories = new Map<string, { writes: Write[]; toldAt?: number }>()
  return {
    wrote({ uid, kind: object, namespace, service, name, by }, content) {
      if (by === undefined) return
      const now = context.now()
      const history = histories.get(uid) ?? { writes: [] }
      histories.set(uid, history)
      // Writes in a row by one client count as one, with the last content.
      if (history.writes.at(-1)?.by.manager === by.manager) history.writes.pop()
      history.writes.push({ at: now, by, content })
      if (history.writes.length > ROUNDS) history.writes.shift()
      const [a, b, again, bAgain] = history.writes
      if (a === undefined || b === undefined || again === undefined || bAgain === undefined) return
      const isUndone = isSame(a, again) && isSame(b, bAgain) && a.content !== b.content
      const isTold = history.toldAt !== undefined && now - history.toldAt < UNDO_WITHIN_MS
      if (!isUndone || isTold || now - a.at > UNDO_WITHIN_MS) return
      history.toldAt = now
      context.find({
        code: 'writers-undo-each-other',
        cluster,
        namespace,
        service,
        object,
        name,
        writers: [again.by, bAgain.by],
        writes: ROUNDS,
        spanMs: now - a.at,
      })
    },
    gone: (uid) => void histories.delete(uid),
  }
}

function isSame(one: Write, other: Write): boolean {
  return one.by.manager === other.by.manager && one.content === other.content
}
