import type { KubeClient, PatchOperation } from '../../kube/client.ts'
import { KubeError } from '../../kube/errors.ts'
import { applyJsonPatch, isSameJson } from './json-patch.ts'

// oxlint-disable-next-line no-explicit-any
export type Raw = any

export interface FakeApi {
  client: KubeClient
  /** The method and the path without the query of every call; a list is `LIST`. */
  calls: { method: string; path: string }[]
  get(path: string): Raw
  /** The stored objects whose paths begin with the prefix. */
  list(prefix: string): [string, Raw][]
  /** Creates or replaces an object, as another client would; returns the stored object. */
  put(path: string, object: Raw): Raw
  /** Changes a stored object in place. */
  edit(path: string, change: (object: Raw) => void): Raw
  remove(path: string): void
  /** Faults that throw before a call has done its work, or after it. */
  faults: { before: (method: string, path: string) => void; after: (method: string, path: string) => void }
  /** Called with every stored object, as for a controller. */
  onStored: (path: string, object: Raw) => void
}

interface LoggedEvent {
  version: number
  collection: string
  line: { type: string; object: Raw }
}

/** A small API server in memory: list, watch, get and JSON Patch of objects by path. */
export function createFakeApi(): FakeApi {
  const objects = new Map<string, Raw>()
  const log: LoggedEvent[] = []
  const watchers = new Set<(event: LoggedEvent) => void>()
  let version = 1

  function store(path: string, object: Raw): Raw {
    const before = objects.get(path)
    version += 1
    const stored = structuredClone(object)
    const generation = (before?.metadata.generation ?? 0) + (isSameJson(before?.spec, object.spec) ? 0 : 1)
    stored.metadata = { uid: `uid-of-${path}`, generation, ...object.metadata, resourceVersion: String(version) }
    if (before) stored.metadata.generation = generation
    objects.set(path, stored)
    emit(path, before ? 'MODIFIED' : 'ADDED', stored)
    api.onStored(path, stored)
    return structuredClone(objects.get(path))
  }

  function emit(path: string, type: string, object: Raw): void {
    const event = { version, collection: path.slice(0, path.lastIndexOf('/')), line: structuredClone({ type, object }) }
    log.push(event)
    for (const watcher of watchers) watcher(event)
  }

  function fail(method: string, path: string, status: number, reason: string): KubeError {
    return new KubeError(`${method} ${path}: ${status} ${reason}`, { kind: 'definite', method, path, status, reason })
  }

  async function call(method: string, path: string, work: () => Raw): Promise<Raw> {
    api.calls.push({ method, path })
    await Promise.resolve()
    api.faults.before(method, path)
    const result = work()
    api.faults.after(method, path)
    return structuredClone(result)
  }

  const unused = (): never => {
    throw new Error('not part of the double')
  }

  const client: KubeClient = {
    get(fullPath) {
      const [path, query] = fullPath.split('?') as [string, string | undefined]
      if (query === undefined) {
        return call('GET', path, () => {
          if (!objects.has(path)) throw fail('GET', path, 404, 'NotFound')
          return objects.get(path)
        })
      }
      return call('LIST', path, () => ({
        metadata: { resourceVersion: String(version) },
        items: [...objects]
          .filter(([at, object]) => at.slice(0, at.lastIndexOf('/')) === path && selects(query, object))
          .map(([, object]) => object),
      }))
    },
    patch: (path, operations: PatchOperation[]) =>
      call('PATCH', path, () => {
        if (!objects.has(path)) throw fail('PATCH', path, 404, 'NotFound')
        try {
          return store(path, applyJsonPatch(objects.get(path), operations))
        } catch {
          throw fail('PATCH', path, 422, 'Invalid')
        }
      }),
    watch(fullPath, { signal, onLine, onOpen }) {
      const [path, query = ''] = fullPath.split('?') as [string, string | undefined]
      api.calls.push({ method: 'WATCH', path })
      const from = Number(new URLSearchParams(query).get('resourceVersion'))
      return new Promise((resolve) => {
        const deliver = (event: LoggedEvent): void => {
          if (event.collection !== path || event.version <= from || !selects(query, event.line.object)) return
          queueMicrotask(() => !signal.aborted && onLine(JSON.stringify(event.line)))
        }
        onOpen?.()
        log.forEach(deliver)
        watchers.add(deliver)
        signal.addEventListener('abort', () => {
          watchers.delete(deliver)
          resolve()
        })
      })
    },
    create: unused,
    replace: unused,
    delete: unused,
  }

  const api: FakeApi = {
    client,
    calls: [],
    get: (path) => structuredClone(objects.get(path)),
    list: (prefix) => structuredClone([...objects].filter(([path]) => path.startsWith(prefix))),
    put: store,
    edit(path, change) {
      const object = structuredClone(objects.get(path))
      change(object)
      return store(path, object)
    },
    remove(path) {
      const object = objects.get(path)
      objects.delete(path)
      version += 1
      emit(path, 'DELETED', { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } })
    },
    faults: { before: () => {}, after: () => {} },
    onStored: () => {},
  }
  return api
}

function selects(query: string, object: Raw): boolean {
  const parameters = new URLSearchParams(query)
  const name = parameters.get('fieldSelector')?.replace('metadata.name=', '')
  const labels = parameters.get('labelSelector')?.split(',') ?? []
  return (
    (name === undefined || object.metadata.name === name) &&
    labels.every((pair) => {
      const [key, value] = pair.split('=') as [string, string | undefined]
      const present = object.metadata.labels?.[key]
      return value === undefined ? present !== undefined : present === value
    })
  )
}
