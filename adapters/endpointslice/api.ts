/** The calls to the API server, and the meaning of their errors for a drain. */
import { isMissingRight, KubeError } from '../../src/kube/errors.ts'
import { type Call, AdapterError, type AdapterErrorKind } from '../contract.ts'
import type { Cluster } from './cluster.ts'
import { SERVICE_LABEL, type Service, serviceSchema, type Slice, sliceList, writtenSlice } from './slices.ts'

const SLICES = '/apis/discovery.k8s.io/v1'

export interface SliceApi {
  read(call: Limits): Promise<{ service: Service; slices: Slice[] }>
  /** Writes the slice if it still has the version of the read. Rejects with an AdapterError, or with the error of `assertLive`. */
  write(slice: Slice, call: Limits): Promise<void>
}

type Limits = Call & { signal: AbortSignal }

export interface SliceApiOptions {
  component: string
  cluster: Cluster
  namespace: string
  service: string
}

export function createSliceApi({ component, cluster, namespace, service }: SliceApiOptions): SliceApi {
  const slicesPath = `${SLICES}/namespaces/${namespace}/endpointslices`
  const selector = encodeURIComponent(`${SERVICE_LABEL}=${service}`)

  const failed = (kind: AdapterErrorKind, message: string, cause?: unknown): AdapterError => {
    const retryAfterMs = cause instanceof KubeError ? cause.retryAfterMs : undefined
    return new AdapterError(component, kind, message, { cause, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) })
  }

  /** The message of an error. `right` is the right that RBAC must allow for the call. */
  function messageOf({ message, status, hint }: KubeError, right: string): string {
    if (isMissingRight(status, message)) return `${message}; a Role in the namespace ${namespace} has to allow ${right}`
    return hint === undefined ? message : `${message}; ${hint}`
  }

  /** The error of a read. It is retryable even without permission, because an API server refuses all users for a moment after its start. */
  function readError(error: unknown, right: string): unknown {
    if (!(error instanceof KubeError)) return error
    return failed(error.kind === 'throttled' ? 'throttled' : 'retryable', messageOf(error, right), error)
  }

  function writeError(error: unknown, slice: Slice): unknown {
    if (!(error instanceof KubeError)) return error
    const { kind, status } = error
    const message = messageOf(error, 'update endpointslices.discovery.k8s.io')
    if (kind === 'throttled' || kind === 'ambiguous') return failed(kind, message, error)
    if (kind === 'conflict' || status === 404)
      return failed('conflict', `the EndpointSlice ${slice.metadata.name} is another by now: ${message}`, error)
    return failed(status === undefined || status === 401 ? 'retryable' : 'fatal', message, error)
  }

  return {
    async read({ deadlineMs, signal }) {
      const { client } = await cluster.connection()
      const limits = { deadlineMs, signal, once: true }
      const get = (path: string, right: string): Promise<unknown> =>
        client.get(path, limits).catch((error: unknown) => {
          throw readError(error, right)
        })
      const [found, listed] = await Promise.all([
        get(`/api/v1/namespaces/${namespace}/services/${service}`, 'get services'),
        get(`${slicesPath}?labelSelector=${selector}`, 'list endpointslices.discovery.k8s.io'),
      ])
      const [parsed, list] = [serviceSchema.safeParse(found), sliceList.safeParse(listed)]
      if (!parsed.success || !list.success) {
        const cause = parsed.error ?? list.error
        throw failed(
          'retryable',
          `the answer of the API server is no ${parsed.success ? 'list of EndpointSlices' : 'Service'}`,
          cause,
        )
      }
      return { service: parsed.data, slices: list.data.items }
    },

    async write(slice, { deadlineMs, signal, assertLive }) {
      const { client } = await cluster.connection()
      let lost: { error: unknown } | undefined
      const beforeSend = (): void => {
        try {
          assertLive()
        } catch (error) {
          lost = { error }
          throw error
        }
      }
      const limits = { deadlineMs, signal, once: true, beforeSend }
      // The items of a list have no apiVersion and no kind.
      const body = { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', ...slice }
      const answer = await client.replace(`${slicesPath}/${slice.metadata.name}`, body, limits).catch((error: unknown) => {
        throw lost === undefined ? writeError(error, slice) : lost.error
      })
      if (writtenSlice.safeParse(answer).data?.metadata.name !== slice.metadata.name)
        throw failed('ambiguous', `the answer to the change of the EndpointSlice ${slice.metadata.name} is not that slice`)
    },
  }
}
