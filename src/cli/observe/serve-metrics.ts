import type { ObserveOptions } from '../../library/observe-options.ts'
import type { Look } from '../../observer/read/observe.ts'
import type { ObserverSnapshot, Told } from '../../observer/told.ts'
import type { ServerEvent } from '../../server/serve.ts'

export interface MetricsAddress {
  listen: string
  tls?: { certFile: string; keyFile: string }
}

/** The server of `--metrics-listen`. */
export interface MetricsServer extends Required<Pick<ObserveOptions, 'onLag' | 'onWrite' | 'onLease'>> {
  onTold(told: Told): void
  /** Serves the state of `look` from now on, as metrics and as readiness. */
  begin(look: Look): void
  close(): Promise<unknown>
}

/** At the end, a request under way has this long to be answered. */
const CLOSES_WITHIN_MS = 2_000
const NOTHING: ObserverSnapshot = { at: 0, clusters: [], loadBalancers: [], findings: [], backlogs: [] }

/** Starts the server. `loadBalancers` has the names of the load balancers to wait for before it is ready. Rejects with a ServerError. */
export async function serveMetrics(
  { listen, tls }: MetricsAddress,
  loadBalancers: readonly string[],
  say: (line: string) => void,
): Promise<MetricsServer> {
  const { serve } = await import('../../server/serve.ts')
  const { createObserverMetrics } = await import('../../telemetry/observer-metrics.ts')
  let look: Look | undefined
  const metrics = createObserverMetrics(() => look?.snapshot() ?? NOTHING)
  const served = await serve({
    listen,
    ...(tls && { tls }),
    metrics,
    notReady: () => (look === undefined ? [{ code: 'starting' }] : notReadyBecause(look.snapshot(), loadBalancers)),
    onEvent: (event) => say(eventWords(event)),
  })
  say(`metrics at ${served.url}/metrics`)
  return {
    onTold: metrics.onTold,
    onLag: metrics.onLag,
    onWrite: metrics.onWrite,
    onLease: metrics.onLease,
    begin(own) {
      look = own
    },
    close: () => served.close({ graceMs: CLOSES_WITHIN_MS }),
  }
}

/** The server is also ready where a cluster or a load balancer does not answer: Prometheus must scrape the metric that says so. */
function notReadyBecause({ clusters, loadBalancers: asked }: ObserverSnapshot, loadBalancers: readonly string[]) {
  return [
    ...clusters.filter(({ is }) => is === 'listing').map(({ name }) => ({ code: 'cluster-not-listed', cluster: name })),
    ...loadBalancers
      .filter((name) => !asked.some((one) => one.name === name))
      .map((name) => ({ code: 'load-balancer-not-read', loadBalancer: name })),
  ]
}

function eventWords(event: ServerEvent): string {
  switch (event.type) {
    case 'certificateRenewed':
      return `the certificate${event.certFile === undefined ? '' : ` of ${event.certFile}`} is new, and in use until ${new Date(event.endsAt).toISOString()}`
    case 'certificateRefused':
      return `${event.error.message}; the one in use stays`
    case 'requestFailed':
      return `a request of ${event.path} has failed: ${event.error instanceof Error ? event.error.message : String(event.error)}`
  }
}
