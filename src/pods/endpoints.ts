import type { ReasonOf } from '../reasons/reason.ts'
import type { PodEndpoint, PodView } from './glossary.ts'

/** Of a pod that no slice has. */
export const NO_ENDPOINTS: readonly PodEndpoint[] = []

/**
 * The endpoints that a pod has to have again before it is put back: those that were ready before the drain. Of a pod that was not
 * Ready itself, also those that follow its Ready: they said no for that reason alone.
 */
export function awaitedEndpoints(pod: Pick<PodView, 'ready'>, endpoints: readonly PodEndpoint[]): string[] {
  return endpoints.flatMap(({ source, unready, followsReady }) =>
    unready.length === 0 || (followsReady && !pod.ready) ? [source] : [],
  )
}

/** The slices that lack an awaited endpoint; undefined where each endpoint is back. A slice that is gone says nothing. */
export function missingEndpoint(
  awaited: readonly string[],
  endpoints: readonly PodEndpoint[],
): ReasonOf<'endpoints-not-back'> | undefined {
  const slices = endpoints.flatMap(({ source, unready }) => (awaited.includes(source) ? unready : []))
  if (slices.length === 0) return undefined
  return { code: 'endpoints-not-back', slices }
}
