import { KubeError } from '../../../kube/errors.ts'
import type { KubeClient, PatchOperation } from '../../../kube/client.ts'

// oxlint-disable-next-line no-explicit-any
type Stored = any

/** A Secret and a webhook configuration, with the conflicts and versions of an API server. */
export interface StoredObjects {
  client: KubeClient
  /** The stored object of a name; undefined where it is missing. */
  at(name: string): Stored
  put(name: string, object: object | undefined): void
  writes: { method: string; name: string }[]
}

export function storedObjects(): StoredObjects {
  const stored = new Map<string, Stored>()
  const writes: StoredObjects['writes'] = []
  let version = 0
  const nameOf = (path: string): string => path.split('/').at(-1)!
  const refused = (method: string, path: string, status: number, reason: string): KubeError =>
    new KubeError(`${method} ${path}: ${reason}`, {
      kind: status === 409 ? 'conflict' : 'definite',
      method,
      path,
      status,
      reason,
    })
  function put(name: string, object: object | undefined): void {
    if (object === undefined) stored.delete(name)
    else {
      const { metadata } = object as Stored
      stored.set(name, structuredClone({ ...object, metadata: { ...metadata, resourceVersion: String(++version) } }))
    }
  }
  const client = {
    async get(path: string) {
      const found = stored.get(nameOf(path))
      if (found === undefined) throw refused('GET', path, 404, 'NotFound')
      return structuredClone(found)
    },
    async create(path: string, body: Stored) {
      const { name } = body.metadata as { name: string }
      if (stored.has(name)) throw refused('POST', path, 409, 'AlreadyExists')
      put(name, body)
      writes.push({ method: 'POST', name })
    },
    async replace(path: string, body: Stored, options: { beforeSend?: () => void }) {
      options.beforeSend?.()
      const [name, found] = [nameOf(path), stored.get(nameOf(path))]
      if (found?.metadata.resourceVersion !== body.metadata.resourceVersion) throw refused('PUT', path, 409, 'Conflict')
      put(name, body)
      writes.push({ method: 'PUT', name })
    },
    async patch(path: string, [guard, ...changes]: PatchOperation[], options: { beforeSend?: () => void }) {
      options.beforeSend?.()
      const [name, found] = [nameOf(path), structuredClone(stored.get(nameOf(path)))]
      if (guard?.op !== 'test' || found.metadata.resourceVersion !== guard.value) throw refused('PATCH', path, 422, 'Invalid')
      for (const change of changes) {
        const [, , index] = change.path.split('/')
        found.webhooks[Number(index)].clientConfig.caBundle = (change as { value: unknown }).value
      }
      put(name, found)
      writes.push({ method: 'PATCH', name })
    },
  }
  return { client: client as unknown as KubeClient, at: (name) => stored.get(name), put, writes }
}
