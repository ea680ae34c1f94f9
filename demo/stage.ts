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
  /** The path of the config file in which sluice finds the load balancer. */
  config: string
  /** Entries of the load balancer in addition to those of the pods. `port` is the port that the pods listen on. */
  more?: (port: number) => BalancerOptions['pods']
}

const POLL_MS = 50
/** Pods become ready within some seconds. */
const READY_LIMIT_MS = 60_000

/** Starts pods, each as a process, behind a load balancer; resolves once all pods are ready. */
export async function setStage<Kind extends Balancer>(
  children: Children,
  { start, config, more = () => [], ...options }: StageOptions<Kind>,
): Promise<Stage & { balancer: Kind }> {
  const cluster = await startCluster(children, options)
  const { port, endpointOf, api } = cluster
  const balanced = cluster.pods.map((name) => ({ name, address: `${endpointOf(name).host}:${endpointOf(name).port}` }))
  const balancer = await start(children, { pods: [...balanced, ...more(port)], port, folder: options.folder })
  writeConfig(config, balancer.config)
  const giveUpAt = performance.now() + READY_LIMIT_MS
  for (const pod of cluster.pods) {
    while (!(await api.read(pod)).isReady) {
      if (performance.now() > giveUpAt) throw new DemoError(`${pod} did not become ready`)
      await sleep(POLL_MS)
    }
  }
  return { cluster, balancer }
}

/** Writes the config in which sluice finds the load balancer. */
export function writeConfig(file: string, loadBalancer: Balancer['config']): void {
  // JSON is valid YAML.
  const document = { apiVersion: 'sluice.dev/v1', kind: 'Config', loadBalancers: [loadBalancer] }
  writeFileSync(file, `${JSON.stringify(document, undefined, 2)}\n`)
}

export function configIn(folder: string): string {
  return join(folder, 'sluice.yaml')
}
