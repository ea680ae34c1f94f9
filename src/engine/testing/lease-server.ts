import type { KubeClient } from '../../kube/client.ts'
import { applyJsonPatch } from '../../workloads/testing/json-patch.ts'
import { KubeError } from '../../kube/errors.ts'
import type { KubeErrorKind } from '../../kube/errors.ts'

/**
 * The fault of one call:
 * - `lost`: the bytes left and never arrived.
 * - `unanswered`: the call arrived and was carried out, and its answer was lost.
 * - `unsent`: no byte left.
 * - `gateway`: a gateway answered with a 404 of its own.
 * - `begun`: the API server has just started, and forbids all requests.
 */
export type LeaseFault = 'lost' | 'unanswered' | 'unsent' | 'gateway' | 'begun' | undefined

export interface StoredLease {
  metadata: { name: string; namespace: string; uid: string; resourceVersion: string; annotations?: Record<string, string> }
  spec: { holderIdentity?: string; leaseTransitions?: number; leaseDurationSeconds?: number; renewTime?: string }
}

/** An API server with at most one Lease, and with optimistic locking like the real one. */
export interface LeaseServer {
  client: KubeClient
  lease(): StoredLease | undefined
  /** Writes or deletes the Lease, as another writer. */
  write(spec: StoredLease['spec'] | undefined): void
  /** Sets or removes one annotation, as another writer. */
  annotate(key: string, value: string | undefined): void
  fault: (call: { method: string; index: number }) => LeaseFault
  /** The methods of the calls, in their order. */
  calls: string[]
}

export function createLeaseServer(): LeaseServer {
  let lease: StoredLease | undefined
  let version = 10
  let uid = 0

  function store(spec: StoredLease['spec'], annotations = lease?.metadata.annotations ?? {}): StoredLease {
    version += 1
    if (!lease) uid += 1
    const metadata = { name: 'sluice-statefulset-web', namespace: 'shop', uid: `uid-${uid}`, resourceVersion: String(version) }
    lease = { metadata: { ...metadata, annotations }, spec }
    return lease
  }

  function failure(
    method: string,
    path: string,
    kind: KubeErrorKind,
    status?: number,
    reason = status === 404 ? 'NotFound' : undefined,
  ): KubeError {
    const message = status === 403 ? '403 Forbidden: User "sluice" cannot get resource "leases"' : (status ?? kind)
    return new KubeError(`${method} ${path}: ${message}`, {
      kind,
      method,
      path,
      ...(status === undefined ? {} : { status }),
      ...(reason ? { reason } : {}),
    })
  }

  async function call(method: string, path: string, work: () => unknown): Promise<unknown> {
    const fault = server.fault({ method, index: server.calls.length })
    server.calls.push(method)
    await Promise.resolve()
    if (fault === 'unsent') throw failure(method, path, method === 'GET' ? 'ambiguous' : 'definite')
    if (fault === 'lost') throw failure(method, path, 'ambiguous')
    if (fault === 'begun') throw failure(method, path, 'definite', 403)
    if (fault === 'gateway') throw failure(method, path, 'definite', 404, '')
    const answer = structuredClone(work())
    if (fault === 'unanswered') throw failure(method, path, 'ambiguous')
    return answer
  }

  const unused = (): never => {
    throw new Error('not part of the double')
  }

  const server: LeaseServer = {
    client: {
      get: (path) =>
        call('GET', path, () => {
          if (!lease) throw failure('GET', path, 'definite', 404)
          return lease
        }),
      create: (path, body) =>
        call('POST', path, () => {
          if (lease) throw failure('POST', path, 'conflict', 409)
          return store((body as StoredLease).spec, (body as StoredLease).metadata.annotations ?? {})
        }),
      replace: (path, body) =>
        call('PUT', path, () => {
          const { metadata, spec } = body as StoredLease
          if (metadata.uid && metadata.uid !== lease?.metadata.uid) throw failure('PUT', path, 'conflict', 409)
          // Like the real one, a PUT makes a missing Lease, whatever its version.
          if (lease && metadata.resourceVersion !== lease.metadata.resourceVersion) throw failure('PUT', path, 'conflict', 409)
          // A PUT replaces the whole object.
          return store(spec, metadata.annotations ?? {})
        }),
      patch: (path, operations) =>
        call('PATCH', path, () => {
          if (!lease) throw failure('PATCH', path, 'definite', 404)
          let patched: StoredLease
          try {
            patched = applyJsonPatch(lease, operations)
          } catch {
            throw failure('PATCH', path, 'definite', 422)
          }
          return store(patched.spec, patched.metadata.annotations ?? {})
        }),
      delete: unused,
      watch: unused,
    },
    lease: () => lease,
    write(spec) {
      if (spec === undefined) lease = undefined
      else store(spec)
    },
    annotate(key, value) {
      const { [key]: _, ...others } = lease!.metadata.annotations ?? {}
      store(lease!.spec, value === undefined ? others : { ...others, [key]: value })
    },
    fault: () => undefined,
    calls: [],
  }
  return server
}
