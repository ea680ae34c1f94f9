import type { Clock } from '../../src/ports/clock.ts'
import type { Kind } from './kinds.ts'
import { expired, refusal } from './refusal.ts'
import type { Route } from './route.ts'
import { selection } from './selection.ts'
import type { Selects } from './selectors.ts'
import type { KubeObject, WatchSink } from './server.ts'
import { textOf, type Storage, type StorageEvent, type Version } from './storage.ts'

export interface Watches {
  /** Starts a watch. Returns the function that ends it. @throws Refusal 400, 410, 500 */
  open(route: Route, sink: WatchSink): () => void
  /** Ends all watches in order. */
  end(): void
  /** Sends a bookmark to every watch that asked for bookmarks. */
  bookmark(): void
}

interface Watch {
  kind: Kind
  namespace: string | undefined
  selects: Selects | undefined
  sink: WatchSink
  wantsBookmarks: boolean
  /** The newest revision whose event the watch has passed, with or without a line. */
  toldUntil: number
  timer: unknown
}

const INITIAL_EVENTS_END = { 'k8s.io/initial-events-end': 'true' }

export function createWatches(storage: Storage, clock: Clock, expiredWatch: 'event' | 'answer'): Watches {
  const open = new Map<Kind, Set<Watch>>()

  storage.onEvent((event) => {
    for (const watch of open.get(event.kind) ?? []) tell(watch, event)
  })

  function tell(watch: Watch, event: StorageEvent): void {
    if (event.revision <= watch.toldUntil) return
    watch.toldUntil = event.revision
    const line = lineOf(watch, event)
    if (line !== undefined) watch.sink.line(line)
  }

  function close(watch: Watch): void {
    open.get(watch.kind)?.delete(watch)
    clock.clearTimeout(watch.timer)
  }

  function endInOrder(watch: Watch): void {
    if (!open.get(watch.kind)?.has(watch)) return
    close(watch)
    watch.sink.end()
  }

  function initialEvents({ kind, namespace, selects, sink }: Watch): void {
    for (const version of storage.list(kind, namespace) ?? []) {
      if (selects === undefined || selects(version.object)) sink.line(`{"type":"ADDED","object":${textOf(version)}}`)
    }
  }

  return {
    open(route, sink) {
      const { kind, query } = route
      const watch: Watch = {
        kind,
        namespace: route.namespace,
        selects: selectionOf(route),
        sink,
        wantsBookmarks: isTrue(query.get('allowWatchBookmarks')),
        toldUntil: storage.revision(),
        timer: undefined,
      }
      const from = startOf(query)
      const wantsInitialEvents = isTrue(query.get('sendInitialEvents'))
      const missed = from === 0 || wantsInitialEvents ? [] : storage.eventsAfter(kind, from)
      if (missed === undefined) {
        const refused = expired(`too old resource version: ${from} (${storage.revision()})`)
        if (expiredWatch === 'answer') throw refused
        sink.line(`{"type":"ERROR","object":${refused.answer.text}}`)
        sink.end()
        return () => {}
      }
      const watching = open.get(kind) ?? new Set()
      open.set(kind, watching.add(watch))
      const seconds = Number(query.get('timeoutSeconds') ?? 0)
      if (seconds > 0) watch.timer = clock.setTimeout(() => endInOrder(watch), seconds * 1000)

      if (from === 0 || wantsInitialEvents) initialEvents(watch)
      if (wantsInitialEvents) sink.line(bookmarkLine(kind, storage.revision(), INITIAL_EVENTS_END))
      for (const event of missed) {
        const line = lineOf(watch, event)
        if (line !== undefined) sink.line(line)
      }
      return () => close(watch)
    },

    end() {
      for (const watching of open.values()) for (const watch of Array.from(watching)) endInOrder(watch)
    },

    bookmark() {
      for (const [kind, watching] of open) {
        for (const { wantsBookmarks, sink } of watching) if (wantsBookmarks) sink.line(bookmarkLine(kind, storage.revision()))
      }
    },
  }
}

function selectionOf({ kind, name, query }: Route): Selects | undefined {
  const selects = selection(kind, query)
  if (name === undefined) return selects
  return (object) => object.metadata.name === name && (selects === undefined || selects(object))
}

function isTrue(value: string | null): boolean {
  return value === 'true' || value === '1'
}

function startOf(query: URLSearchParams): number {
  const asked = query.get('resourceVersion') ?? ''
  if (asked === '') return 0
  if (!/^[0-9]+$/.test(asked)) {
    throw refusal(
      500,
      undefined,
      `resourceVersion: Invalid value: "${asked}": strconv.ParseUint: parsing "${asked}": invalid syntax`,
    )
  }
  return Number(asked)
}

/** Returns the line of a watch for a write. Undefined where the write is outside the watch. */
function lineOf({ namespace, selects }: Watch, { verb, before, now }: StorageEvent): string | undefined {
  if (namespace !== undefined && now.object.metadata.namespace !== namespace) return undefined
  const isIn = verb !== 'delete' && (selects === undefined || selects(now.object))
  const wasIn = before !== undefined && (selects === undefined || selects(before.object))
  if (!isIn && !wasIn) return undefined
  if (isIn) return `{"type":"${wasIn ? 'MODIFIED' : 'ADDED'}","object":${textOf(now)}}`
  // An object that leaves the selection is shown as it was inside, under the version that took it out.
  const text = verb === 'delete' ? textOf(now) : JSON.stringify(asOf(before!, now))
  return `{"type":"DELETED","object":${text}}`
}

function asOf({ object }: Version, { object: { metadata } }: Version): KubeObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: metadata.resourceVersion } }
}

function bookmarkLine({ kind, apiVersion }: Kind, revision: number, annotations?: Record<string, string>): string {
  const metadata = { resourceVersion: String(revision), creationTimestamp: null, ...(annotations ? { annotations } : {}) }
  return JSON.stringify({ type: 'BOOKMARK', object: { kind, apiVersion, metadata } })
}
