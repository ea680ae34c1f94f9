import type { ObserveOptions } from '../../library/observe-options.ts'
import type { Look } from '../../observer/read/observe.ts'
import type { ObserverSnapshot, Told } from '../../observer/told.ts'
import type { MetricsAddress } from '../metrics/metrics-address.ts'
import { serveMetrics as serveAt } from '../metrics/serve-metrics.ts'

/** The server of `--metrics-listen`. */
export interface MetricsServer extends Required<Pick<ObserveOptions, 'onLag' | 'onWrite' | 'onLease'>> {
  onTold(told: Told): void
  /** Serves the state of `look` from now on, as metrics and as readiness. */
  begin(look: Look): void
  close(): Promise<unknown>
}

const NOTHING: ObserverSnapshot = { at: 0, clusters: [], loadBalancers: [], findings: [], backlogs: [] }

/** Starts the server. `loadBalancers` has the names of the load balancers to wait for before it is ready. Rejects with a ServerError. */
export async function serveMetrics(
  address: MetricsAddress,
  loadBalancers: readonly string[],
  say: (line: string) => void,
): Promise<MetricsServer> {
  const { createObserverMetrics } = await import('../../telemetry/observer-metrics.ts')
  let look: Look | undefined
  const metrics = createObserverMetrics(() => look?.snapshot() ?? NOTHING)
  const served = await serveAt(
    address,
    {
      metrics,
      notReady: () => (look === undefined ? [{ code: 'starting' }] : notReadyBecause(look.snapshot(), loadBalancers)),
    },
    say,
  )
  return {
    onTold: metrics.onTold,
    onLag: metrics.onLag,
    onWrite: metrics.onWrite,
    onLease: metrics.onLease,
    begin(own) {
      look = own
    },
    close: served.close,
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
