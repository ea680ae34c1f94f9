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
  /** It is a list of the objects of this name alone. */
  name?: string
}

/**
 * The newest known version of each object of one collection, by uid; pure. It comes from the stream (list and watch) or
 * from the answer of a call, whichever is faster; only the stream, and a look at one object, make events, and never one that turns the clock back.
 */
export interface ObjectStore<R extends ObjectRecord> {
  records(): ReadonlyMap<string, R>
  /** Takes in an answer; gives the newest known version. */
  observe(record: R): R
  /** Takes in the answer to a look at one object as the stream would: with the event that it makes. */
  tell(record: R): ReflectorEvent<R> | undefined
  /** Takes in a list; gives the difference to what was told before, deletions first. */
  replace(listing: Listing<R>): ReflectorEvent<R>[]
  /** Takes in a watch event; undefined where it says nothing new (a replay, or a version that an answer has overtaken). */
  apply(type: 'ADDED' | 'MODIFIED' | 'DELETED', record: R): ReflectorEvent<R> | undefined
}

export function createObjectStore<R extends ObjectRecord>(): ObjectStore<R> {
  const newest = new Map<string, R>()
  /** The version that the last event of each object told. */
  const told = new Map<string, string>()
  const deletedAt = new Map<string, string>()

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
    told.delete(uid)
    rememberDeletion(uid, version)
  }

  function isFromBeforeDeletion(record: R): boolean {
    const version = deletedAt.get(record.uid)
    return version !== undefined && !isNewerVersion(record.resourceVersion, version)
  }

  function isKnownNewer({ uid, resourceVersion }: R): boolean {
    const known = newest.get(uid)
    return known !== undefined && isOlderVersion(resourceVersion, known.resourceVersion)
  }

  function tell(record: R): ReflectorEvent<R> | undefined {
    const before = told.get(record.uid)
    if (isKnownNewer(record) || (before !== undefined && !isNewerVersion(record.resourceVersion, before))) return undefined
    newest.set(record.uid, record)
    told.set(record.uid, record.resourceVersion)
    deletedAt.delete(record.uid)
    return { type: before === undefined ? 'added' : 'modified', record }
  }

  return {
    records: () => newest,

    observe(record) {
      if (isFromBeforeDeletion(record)) return record
      if (!isKnownNewer(record)) newest.set(record.uid, record)
      return newest.get(record.uid) ?? record
    },

    tell: (record) => (!told.has(record.uid) && isFromBeforeDeletion(record) ? undefined : tell(record)),

    replace({ records, unreadable, version, name }) {
      const listed = new Set(unreadable)
      for (const { uid } of records) listed.add(uid)
      const events: ReflectorEvent<R>[] = []
      for (const [uid, record] of newest) {
        if (listed.has(uid) || (name !== undefined && record.name !== name)) continue
        // Made while the list was under way, and known from the answer that made it: the watch will bring it.
        if (!told.has(uid) && isNewerVersion(record.resourceVersion, version)) continue
        // A look goes on beside the watch, which may have told by now of what was made anew under that name.
        if (name !== undefined && isOlderVersion(version, record.resourceVersion)) continue
        remove(uid, version)
        events.push({ type: 'deleted', record })
      }
      for (const record of records) {
        if (name !== undefined && !told.has(record.uid) && isFromBeforeDeletion(record)) continue
        const event = tell(record)
        if (event !== undefined) events.push(event)
      }
      return events
    },

    apply(type, record) {
      if (type !== 'DELETED') return !told.has(record.uid) && isFromBeforeDeletion(record) ? undefined : tell(record)
      const before = told.get(record.uid)
      // Equal is no replay: some servers give the deletion the version of the last change.
      if (before !== undefined && isOlderVersion(record.resourceVersion, before)) return undefined
      const isKnown = newest.has(record.uid)
      remove(record.uid, record.resourceVersion)
      return isKnown ? { type: 'deleted', record } : undefined
    },
  }
}
