import type { ObjectRecord, ReflectorEvent } from './object-record.ts'
import { isNewerVersion, isOlderVersion } from './resource-version.ts'

/** Deletions remembered, so that a late answer does not bring a dead object back. */
const REMEMBERED_DELETIONS = 10_000

/** One consistent list of the collection. */
export interface Listing<R extends ObjectRecord> {
  records: R[]
  /** Objects that are in the list but could not be decoded: neither gone nor known. */
  unreadable: ReadonlySet<string>
  version: string
}

/**
 * The objects of one collection, by uid; pure. It keeps two versions of each object:
 *
 * - the last one that the *stream* (list or watch) delivered: it alone decides what is an event. The witness rule
 *   reads every status version in order, and the answer of a PATCH is often here before the watch has delivered the
 *   versions below it: they must still become events.
 * - the *newest known* one, from the stream or from an answer: what `records()` gives.
 */
export interface ObjectStore<R extends ObjectRecord> {
  records(): ReadonlyMap<string, R>
  /** Takes in an answer; gives the newest known version. */
  observe(record: R): R
  /** Takes in a list; gives the difference to what the stream delivered before, deletions first. */
  replace(listing: Listing<R>): ReflectorEvent<R>[]
  /** Takes in a watch event; undefined where it says nothing new (a replay after the watch was resumed). */
  apply(type: 'ADDED' | 'MODIFIED' | 'DELETED', record: R): ReflectorEvent<R> | undefined
  /** A version of this object could not be read: its next event is not continuous. */
  markGap(uid: string): void
}

export function createObjectStore<R extends ObjectRecord>(): ObjectStore<R> {
  const newest = new Map<string, R>()
  const streamed = new Map<string, { version: string; gap: boolean }>()
  const deletedAt = new Map<string, string>()

  function keepNewest(record: R): void {
    const known = newest.get(record.uid)
    if (known === undefined || !isOlderVersion(record.resourceVersion, known.resourceVersion)) newest.set(record.uid, record)
  }

  function rememberDeletion(uid: string, version: string): void {
    deletedAt.delete(uid)
    deletedAt.set(uid, version)
    const oldest = deletedAt.keys().next().value
    if (deletedAt.size > REMEMBERED_DELETIONS && oldest !== undefined) deletedAt.delete(oldest)
  }

  /**
   * Leaves `records()` even where a newer version was observed. Either the object left the selection and will come
   * back as ADDED, or it did not come back: the stream says which, and a ghost would stay until the next relist.
   */
  function remove(uid: string, version: string): void {
    newest.delete(uid)
    streamed.delete(uid)
    rememberDeletion(uid, version)
  }

  function isFromBeforeDeletion(record: R): boolean {
    const version = deletedAt.get(record.uid)
    return version !== undefined && !isNewerVersion(record.resourceVersion, version)
  }

  function deliver(record: R, continuous: boolean): ReflectorEvent<R> {
    const type = streamed.has(record.uid) ? 'modified' : 'added'
    streamed.set(record.uid, { version: record.resourceVersion, gap: false })
    deletedAt.delete(record.uid)
    keepNewest(record)
    return { type, record, continuous }
  }

  function markGap(uid: string): void {
    const last = streamed.get(uid)
    if (last !== undefined) last.gap = true
  }

  function applyDeletion(record: R): ReflectorEvent<R> | undefined {
    const last = streamed.get(record.uid)
    // Equal is no replay: some servers give the deletion the version of the last change.
    if (last !== undefined && isOlderVersion(record.resourceVersion, last.version)) return undefined
    const known = newest.has(record.uid)
    remove(record.uid, record.resourceVersion)
    return known ? { type: 'deleted', record, continuous: last !== undefined && !last.gap } : undefined
  }

  return {
    records: () => newest,

    observe(record) {
      if (isFromBeforeDeletion(record)) return record
      keepNewest(record)
      return newest.get(record.uid) ?? record
    },

    replace({ records, unreadable, version }) {
      const listed = new Set(unreadable)
      for (const { uid } of records) listed.add(uid)
      const events: ReflectorEvent<R>[] = []
      for (const [uid, record] of newest) {
        if (listed.has(uid)) continue
        // Made while the list was under way, and known from the answer that made it: the watch will bring it.
        if (!streamed.has(uid) && isNewerVersion(record.resourceVersion, version)) continue
        remove(uid, version)
        events.push({ type: 'deleted', record, continuous: false })
      }
      for (const record of records) {
        const last = streamed.get(record.uid)
        // The same version as before: nothing was missed, and the next event of the watch is continuous.
        if (last !== undefined && !isNewerVersion(record.resourceVersion, last.version)) continue
        events.push(deliver(record, false))
      }
      for (const uid of unreadable) markGap(uid)
      return events
    },

    apply(type, record) {
      if (type === 'DELETED') return applyDeletion(record)
      const last = streamed.get(record.uid)
      if (last === undefined) return isFromBeforeDeletion(record) ? undefined : deliver(record, false)
      return isNewerVersion(record.resourceVersion, last.version) ? deliver(record, !last.gap) : undefined
    },

    markGap,
  }
}
