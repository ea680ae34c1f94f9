import type { ReasonOf } from '../reasons/reason.ts'
import type { PodEndpoint, PodView } from './glossary.ts'

/** The endpoints of a pod that is in no slice. */
export const NO_ENDPOINTS: readonly PodEndpoint[] = []

/**
 * The endpoints that a pod must have again before its restore: those that were ready before the drain. If the pod was not Ready itself, the
 * endpoints that follow its readiness are added, because they were not ready for that reason alone.
 */
export function awaitedEndpoints(pod: Pick<PodView, 'ready'>, endpoints: readonly PodEndpoint[]): string[] {
  return endpoints.flatMap(({ source, unready, followsReady }) =>
    unready.length === 0 || (followsReady && !pod.ready) ? [source] : [],
  )
}

/** The slices that lack an awaited endpoint; undefined if every endpoint is ready again. A deleted slice counts as no obstacle. */
export function missingEndpoint(
  awaited: readonly string[],
  endpoints: readonly PodEndpoint[],
): ReasonOf<'endpoints-not-back'> | undefined {
  const slices = endpoints.flatMap(({ source, unready }) => (awaited.includes(source) ? unready : []))
  if (slices.length === 0) return undefined
  return { code: 'endpoints-not-back', slices }
}
