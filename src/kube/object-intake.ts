import type { Delivery } from './delivery.ts'
import { field, stringField } from './json.ts'
import type { RawListing } from './list-pages.ts'
import type { ObjectRecord, ReflectorEvent } from './object-record.ts'
import { createObjectStore } from './object-store.ts'
import { reflectorProblem } from './reflector-error.ts'
import { isNewerVersion, isOlderVersion } from './resource-version.ts'
import type { WatchLine } from './watch-line.ts'

type ObjectLine = Extract<WatchLine, { type: 'ADDED' | 'MODIFIED' | 'DELETED' }>

/** Decodes the objects of lists, watches and answers for one collection, and reports the changes. */
export interface ObjectIntake<R extends ObjectRecord> {
  /** The newest known version of every object, by uid. */
  records(): ReadonlyMap<string, R>
  /** Applies an answer without an event, unless a newer version is known; returns the newest known version. */
  observe(raw: unknown): R
  /** Applies an answer with an event if the version is new. */
  announce(raw: unknown): R
  /** Applies a list. `name`: the list contains the objects of this name only, and does not tell about others. */
  takeListing(listing: RawListing, name?: string): TakenListing
  /**
   * Applies an event of a watch. `onVersion` is called with its version before the event is reported. Returns an error if an event is lost,
   * because its object is not known.
   */
  takeLine(line: ObjectLine, onVersion: (version: string) => void): Error | undefined
  /** Reports that a list or the watch has delivered everything up to this version. */
  see(version: string): void
}

export interface TakenListing {
  /** The number of reported changes. */
  changes: number
  /** The list is older than what a list or the watch has delivered: the etcd of the server was restored. */
  hasGoneBack: boolean
}

export interface ObjectIntakeOptions<R extends ObjectRecord> {
  /** The path of the collection, for errors. */
  path: string
  decode(raw: unknown): R
  known: readonly R[]
  delivery: Delivery
  onEvent(event: ReflectorEvent<R>): void
  onProblem(error: Error): void
  /** Called when an answer has a version that the watch has not delivered yet. */
  onAnswer(): void
}

export function createObjectIntake<R extends ObjectRecord>(options: ObjectIntakeOptions<R>): ObjectIntake<R> {
  const { path, decode, known, delivery, onEvent, onProblem, onAnswer } = options
  const store = createObjectStore<R>()
  /** The newest version of the objects that are known from elsewhere. The first list is later than all of them. */
  let newestKnown: string | undefined
  for (const record of known) {
    store.observe(record)
    if (newestKnown === undefined || isNewerVersion(record.resourceVersion, newestKnown)) newestKnown = record.resourceVersion
  }
  /** The newest version that a list or the watch has delivered. */
  let seenVersion: string | undefined
  /** The newest version that only an answer has delivered. */
  let answeredVersion: string | undefined

  function see(version: string): void {
    if (seenVersion === undefined || isNewerVersion(version, seenVersion)) seenVersion = version
    if (answeredVersion === undefined || isNewerVersion(answeredVersion, seenVersion)) return
    answeredVersion = undefined
    delivery.onCaughtUp()
  }

  /**
   * The record of a version that an answer has delivered already. Not for deletions: some servers send a deletion with the version of the
   * last change.
   */
  function knownVersion({ type, uid, version }: ObjectLine): R | undefined {
    const one = uid === undefined || type === 'DELETED' ? undefined : store.records().get(uid)
    return one?.resourceVersion === version ? one : undefined
  }

  /** An object that never decodes must not stop the other objects. */
  function skipUnreadable(line: ObjectLine, cause: unknown, onVersion: (version: string) => void): Error | undefined {
    const { type, uid, version, object } = line
    const message = `an object in the watch cannot be read (uid ${uid ?? 'unknown'})`
    const error = reflectorProblem(path, 'malformed', message, { cause, object })
    if (uid === undefined || version === undefined) return error
    onProblem(error)
    onVersion(version)
    const before = store.records().get(uid)
    const event = type === 'DELETED' && before !== undefined ? store.apply('DELETED', before) : undefined
    if (event !== undefined) onEvent(event)
    return undefined
  }

  return {
    records: store.records,
    see,

    observe(raw) {
      const record = decode(raw)
      const { resourceVersion } = record
      if (seenVersion !== undefined && isNewerVersion(resourceVersion, seenVersion)) {
        if (answeredVersion === undefined || isNewerVersion(resourceVersion, answeredVersion)) answeredVersion = resourceVersion
        delivery.onAnswer()
        onAnswer()
      }
      return store.observe(record)
    },

    announce(raw) {
      const record = decode(raw)
      const event = store.tell(record)
      if (event !== undefined) onEvent(event)
      return store.observe(record)
    },

    takeListing({ items, version }, name) {
      const records: R[] = []
      const unreadable = new Set<string>()
      for (const item of items) {
        try {
          records.push(decode(item))
        } catch (error) {
          const uid = stringField(field(item, 'metadata'), 'uid')
          if (uid !== undefined) unreadable.add(uid)
          const message = `an object in the list cannot be read (uid ${uid ?? 'unknown'})`
          onProblem(reflectorProblem(path, 'malformed', message, { cause: error, object: item }))
        }
      }
      // A list is a consistent read, which no server answers from before what it has delivered.
      const least = seenVersion ?? newestKnown
      const hasGoneBack = name === undefined && least !== undefined && isOlderVersion(version, least)
      if (hasGoneBack) {
        seenVersion = undefined
        answeredVersion = undefined
        delivery.onCaughtUp()
      }
      const events = store.replace({ records, unreadable, version, hasGoneBack, ...(name === undefined ? {} : { name }) })
      if (name === undefined) see(version)
      for (const event of events) onEvent(event)
      return { changes: events.length, hasGoneBack }
    },

    takeLine(line, onVersion) {
      let record: R
      try {
        record = knownVersion(line) ?? decode(line.object)
      } catch (error) {
        return skipUnreadable(line, error, onVersion)
      }
      onVersion(record.resourceVersion)
      const event = store.apply(line.type, record)
      if (event === undefined) return undefined
      delivery.onLine(true)
      onEvent(event)
      return undefined
    },
  }
}
