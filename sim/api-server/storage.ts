import type { Kind } from './kinds.ts'
import { managerOf, withManagedFields } from './managed-fields.ts'
import type { KubeObject, StoredWrite } from './server.ts'

/** One version of an object. Its text is made once, for the answers and for every watch. */
export interface Version {
  readonly object: KubeObject
  readonly revision: number
  text: string | undefined
}

export interface StorageEvent {
  kind: Kind
  key: string
  revision: number
  verb: StoredWrite['verb']
  before: Version | undefined
  /** The version after the write. For a deletion, the last version under the revision of the deletion. */
  now: Version
  by: string
}

/** Every object in its present version, and the last writes of each kind: the past that a watch can ask for. */
export interface Storage {
  /** True where the storage keeps `managedFields` itself. It then ignores the `managedFields` of a written object. */
  readonly managesFields: boolean
  /** Returns the revision of the last write. */
  revision(): number
  get(kind: Kind, namespace: string, name: string): Version | undefined
  /** Returns objects in the order of namespace and name, as of `revision`. Undefined where that revision is forgotten. */
  list(kind: Kind, namespace: string | undefined, revision?: number): Version[] | undefined
  /** Returns the writes after `revision`. Undefined where some of them are forgotten. */
  eventsAfter(kind: Kind, revision: number): readonly StorageEvent[] | undefined
  /** Stores a version. The storage assigns the resourceVersion. */
  put(kind: Kind, object: KubeObject, by: string): Version
  remove(kind: Kind, namespace: string, name: string, by: string): Version | undefined
  /** Forgets all versions before now. */
  compact(): void
  /** Calls the listener for each write, in order. A write by a listener is delivered after all listeners have seen the write before. */
  onEvent(listener: (event: StorageEvent) => void): () => void
}

interface Collection {
  current: Map<string, Version>
  /** The sorted keys. Undefined after a key came or went. */
  keys: string[] | undefined
  recent: StorageEvent[]
  /** The revision after which `recent` holds all writes. */
  knownAfter: number
}

export function textOf(version: Version): string {
  version.text ??= JSON.stringify(version.object)
  return version.text
}

function keyOf(kind: Kind, namespace: string, name: string): string {
  return kind.namespaced ? `${namespace}/${name}` : name
}

/** Creates a storage. `watchWindow` is the number of remembered writes of each kind. With `managing`, objects have `managedFields`. */
export function createStorage(watchWindow: number, managing?: { now: () => string }): Storage {
  const collections = new Map<Kind, Collection>()
  const listeners = new Set<(event: StorageEvent) => void>()
  const undelivered: StorageEvent[] = []
  let delivering = false
  let revision = 1

  function collectionOf(kind: Kind): Collection {
    let collection = collections.get(kind)
    if (collection === undefined) {
      collection = { current: new Map(), keys: [], recent: [], knownAfter: 0 }
      collections.set(kind, collection)
    }
    return collection
  }

  function record(collection: Collection, event: StorageEvent): void {
    collection.recent.push(event)
    if (collection.recent.length > watchWindow) {
      const forgotten = collection.recent.shift()!
      collection.knownAfter = forgotten.revision
      forgotten.now.text = undefined
    }
    undelivered.push(event)
    if (delivering) return
    delivering = true
    try {
      for (let next = undelivered.shift(); next !== undefined; next = undelivered.shift()) {
        for (const listener of listeners) listener(next)
      }
    } finally {
      delivering = false
    }
  }

  function versioned(object: KubeObject): Version {
    revision += 1
    const metadata = { ...object.metadata, resourceVersion: String(revision) }
    return { object: { ...object, metadata }, revision, text: undefined }
  }

  /** Returns the objects at revision `at`: the present objects, with the later writes taken back. */
  function past({ current, recent }: Collection, at: number): Map<string, Version> {
    const then = new Map(current)
    for (let i = recent.length - 1; i >= 0 && recent[i]!.revision > at; i--) {
      const { key, before } = recent[i]!
      if (before === undefined) then.delete(key)
      else then.set(key, before)
    }
    return then
  }

  return {
    managesFields: managing !== undefined,
    revision: () => revision,

    get: (kind, namespace, name) => collectionOf(kind).current.get(keyOf(kind, namespace, name)),

    list(kind, namespace, at = revision) {
      const collection = collectionOf(kind)
      if (at < collection.knownAfter) return undefined
      const last = collection.recent.at(-1)
      const isPresent = last === undefined || last.revision <= at
      const versions = isPresent ? collection.current : past(collection, at)
      const keys = isPresent ? (collection.keys ??= sortedKeys(versions)) : sortedKeys(versions)
      const prefix = namespace === undefined ? '' : `${namespace}/`
      return keys.filter((key) => key.startsWith(prefix)).map((key) => versions.get(key)!)
    },

    eventsAfter(kind, after) {
      const { recent, knownAfter } = collectionOf(kind)
      if (after < knownAfter) return undefined
      let first = recent.length
      while (first > 0 && recent[first - 1]!.revision > after) first -= 1
      return recent.slice(first)
    },

    put(kind, object, by) {
      const collection = collectionOf(kind)
      const key = keyOf(kind, object.metadata.namespace ?? '', object.metadata.name)
      const before = collection.current.get(key)
      const owned = managing === undefined ? object : withManagedFields(before?.object, object, managerOf(by), managing.now())
      const now = versioned(owned)
      collection.current.set(key, now)
      if (before === undefined) collection.keys = undefined
      const verb = before === undefined ? 'create' : 'update'
      record(collection, { kind, key, revision: now.revision, verb, before, now, by })
      return now
    },

    remove(kind, namespace, name, by) {
      const collection = collectionOf(kind)
      const key = keyOf(kind, namespace, name)
      const before = collection.current.get(key)
      if (before === undefined) return undefined
      const now = versioned(before.object)
      collection.current.delete(key)
      collection.keys = undefined
      record(collection, { kind, key, revision: now.revision, verb: 'delete', before, now, by })
      return now
    },

    compact() {
      for (const collection of collections.values()) {
        collection.recent = []
        collection.knownAfter = revision
      }
    },

    onEvent(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

function sortedKeys(versions: ReadonlyMap<string, Version>): string[] {
  return [...versions.keys()].sort((a, b) => (a < b ? -1 : 1))
}
