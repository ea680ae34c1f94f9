import type { ObjectRecord, ReflectorEvent } from './object-record.ts'
import { isNewerVersion, isOlderVersion } from './resource-version.ts'

/** The number of remembered deletions, by which a late answer does not bring back a deleted object. */
const REMEMBERED_DELETIONS = 10_000

/** One consistent list of the collection. */
export interface Listing<R extends ObjectRecord> {
  records: R[]
  /** The uids of objects in the list that could not be decoded; they count neither as deleted nor as known. */
  unreadable: ReadonlySet<string>
  version: string
  /** The list contains the objects of this name only. */
  name?: string
  /** The stream was at a newer version: the etcd of the server was restored. All that is known is of a history that no longer is. */
  hasGoneBack?: boolean
}

/**
 * The newest known version of each object of a collection, by uid. Pure. Versions come from the stream (list and watch) or from answers,
 * whichever is faster. Only the stream and a look at one object create events, and no event goes back in time, except after a restore of
 * etcd: a list of the whole collection is true for all versions up to its own, and shows older ones then.
 */
export interface ObjectStore<R extends ObjectRecord> {
  records(): ReadonlyMap<string, R>
  /** Applies an answer; returns the newest known version. */
  observe(record: R): R
  /** Applies the answer to a look at one object as the stream would, with its event. */
  tell(record: R): ReflectorEvent<R> | undefined
  /** Applies a list; returns the difference to the reported state, deletions first. */
  replace(listing: Listing<R>): ReflectorEvent<R>[]
  /** Applies a watch event; undefined if it is not new (a replay, or a version that an answer has overtaken). */
  apply(type: 'ADDED' | 'MODIFIED' | 'DELETED', record: R): ReflectorEvent<R> | undefined
}

export function createObjectStore<R extends ObjectRecord>(): ObjectStore<R> {
  const newest = new Map<string, R>()
  /** The version in the last event of each object. */
  const told = new Map<string, string>()
  const deletedAt = new Map<string, string>()

  function rememberDeletion(uid: string, version: string): void {
    deletedAt.delete(uid)
    deletedAt.set(uid, version)
    const oldest = deletedAt.keys().next().value
    if (deletedAt.size > REMEMBERED_DELETIONS && oldest !== undefined) deletedAt.delete(oldest)
  }

  /**
   * Removes the object even if a newer version was observed. The object has left the selection and comes back as ADDED, or it is gone; the
   * stream tells which. A stale entry would stay until the next relist.
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
    return take(record)
  }

  function take(record: R): ReflectorEvent<R> {
    const before = told.get(record.uid)
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

    replace({ records, unreadable, version, name, hasGoneBack = false }) {
      /** No history of an object shows an older version at a newer one of the collection. */
      const isRestored = (record: R): boolean => {
        const known = newest.get(record.uid)
        return (
          name === undefined && known !== undefined && isKnownNewer(record) && !isNewerVersion(known.resourceVersion, version)
        )
      }
      if (hasGoneBack) deletedAt.clear()
      const listed = new Set(unreadable)
      for (const { uid } of records) listed.add(uid)
      const events: ReflectorEvent<R>[] = []
      for (const [uid, record] of newest) {
        if (listed.has(uid) || (name !== undefined && record.name !== name)) continue
        // The object was created during the list, and is known from the answer to its creation; the watch will deliver it.
        if (!hasGoneBack && !told.has(uid) && isNewerVersion(record.resourceVersion, version)) continue
        // A look runs beside the watch, which may have delivered a newer object of that name already.
        if (name !== undefined && isOlderVersion(version, record.resourceVersion)) continue
        remove(uid, version)
        events.push({ type: 'deleted', record })
      }
      for (const record of records) {
        if (name !== undefined && !told.has(record.uid) && isFromBeforeDeletion(record)) continue
        // A restored history may use a version again, for another content.
        const event = hasGoneBack || isRestored(record) ? take(record) : tell(record)
        if (event !== undefined) events.push(event)
      }
      return events
    },

    apply(type, record) {
      if (type !== 'DELETED') return !told.has(record.uid) && isFromBeforeDeletion(record) ? undefined : tell(record)
      const before = told.get(record.uid)
      // An equal version is no replay: some servers send a deletion with the version of the last change.
      if (before !== undefined && isOlderVersion(record.resourceVersion, before)) return undefined
      const isKnown = newest.has(record.uid)
      remove(record.uid, record.resourceVersion)
      return isKnown ? { type: 'deleted', record } : undefined
    },
  }
}
