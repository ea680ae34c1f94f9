import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Stage } from './acts/act.ts'
import type { Balancer, BalancerOptions } from './balancers/balancer.ts'
import { startCluster, type StartClusterOptions } from './cluster/start.ts'
import { DemoError } from './demo-error.ts'
import type { Children } from './processes/children.ts'

export interface StageOptions<Kind extends Balancer> extends StartClusterOptions {
  start(children: Children, options: BalancerOptions): Promise<Kind>
  /** Where sluice finds the load balancer. */
  config: string
  /** Entries of the load balancer beside those of the pods, given where pods listen. */
  more?: (port: number) => BalancerOptions['pods']
}

const POLL_MS = 50
/** They take some seconds. */
const READY_LIMIT_MS = 60_000

/** Pods, each a process, behind a load balancer; resolves once all are ready. */
export async function setStage<Kind extends Balancer>(
  children: Children,
  { start, config, more = () => [], ...options }: StageOptions<Kind>,
): Promise<Stage & { balancer: Kind }> {
  const cluster = await startCluster(children, options)
  const { port, endpointOf, api } = cluster
  const balanced = cluster.pods.map((name) => ({ name, address: `${endpointOf(name).host}:${endpointOf(name).port}` }))
  const balancer = await start(children, { pods: [...balanced, ...more(port)], port, folder: options.folder })
  // Any JSON is YAML.
  const document = { apiVersion: 'sluice.dev/v1', kind: 'Config', loadBalancers: [balancer.config] }
  writeFileSync(config, `${JSON.stringify(document, undefined, 2)}\n`)
  const giveUpAt = performance.now() + READY_LIMIT_MS
  for (const pod of cluster.pods) {
    while (!(await api.read(pod)).isReady) {
      if (performance.now() > giveUpAt) throw new DemoError(`${pod} did not become ready`)
      await sleep(POLL_MS)
    }
  }
  return { cluster, balancer }
}

export function configIn(folder: string): string {
  return join(folder, 'sluice.yaml')
}
