/** The small load balancer of the demo, behind the plugin of sluice: a program that is started for each call. */
import { join } from 'node:path'
import { createLoadBalancer, type LoadBalancer } from '../../../demo/load-balancer/load-balancer.ts'
import { PORT, type ProductBed } from '../product-bed.ts'
import { type Balancer, withoutRepetitions } from './balancer.ts'

export interface ProgramBalancer extends Balancer {
  balancer: LoadBalancer
  /** Returns the entries of the config, with this command as the plugin. */
  by(command: readonly string[]): object[]
}

export const PLUGIN: string = join(import.meta.dirname, '../../../adapters/exec/examples/lb.mjs')

export async function startProgramBalancer(bed: ProductBed): Promise<ProgramBalancer> {
  const pods = bed.pods()
  const servers = pods.map(({ metadata: { name }, status }) => ({ name, address: `${status!.podIP!}:${PORT}` }))
  const balancer = await createLoadBalancer({ servers })
  const names = bed.names()

  /** Returns the names of the drained servers, after each call that has changed a server. */
  function drained(): Set<string>[] {
    const states = [new Set<string>()]
    for (const { changed, path, body } of balancer.calls) {
      if (!changed) continue
      const next = new Set(states.at(-1))
      const name = decodeURIComponent(path.split('/').at(-1)!)
      if ((body as { state: string }).state === 'ready') next.delete(name)
      else next.add(name)
      states.push(next)
    }
    return states
  }
  const by = (command: readonly string[]): object[] => [
    {
      name: 'edge',
      adapter: 'exec',
      port: PORT,
      options: { command, settings: { url: balancer.adminUrl }, capabilities: { settle: '0s', inFlight: 'exact' } },
    },
  ]

  return {
    balancer,
    loadBalancers: by([process.execPath, PLUGIN]),
    by,
    history: () =>
      withoutRepetitions(
        names,
        drained().map((out) => (pod) => out.has(pod)),
      ),
    settings: () => Promise.resolve(balancer.servers().map((server) => ({ ...server }))),
    stop: () => balancer.close(),
  }
}
