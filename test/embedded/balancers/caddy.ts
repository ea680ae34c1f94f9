/** Caddy itself behind a proxy that records each change, with all pods in one array of upstreams. */
import { type CaddyProcess, HANDLER, startCaddy, type Upstream } from '../../../adapters/conformance/beds/caddy-process.ts'
import { type RecordingProxy, startRecordingProxy } from '../../../adapters/presets/testing/recording-proxy.ts'
import { PORT, type ProductBed } from '../product-bed.ts'
import { type Balancer, withoutRepetitions } from './balancer.ts'

export interface CaddyBalancer extends Balancer {
  caddy: CaddyProcess
  proxy: RecordingProxy
  /** Returns the pods that were out, moment by moment without repetitions: `['', 'web-2', '', 'web-1 web-2']`. */
  sequence(): string[]
  /** Returns the entries of the config, with the admin API at this URL. */
  at(url: string): object[]
}

export async function startCaddyBalancer(bed: ProductBed, program: string): Promise<CaddyBalancer> {
  const caddy = await startCaddy(program, bed.endpoints())
  const proxy = await startRecordingProxy(caddy.adminUrl)
  const dials = new Map(bed.pods().map(({ metadata, status }) => [metadata.name, `${status!.podIP!}:${PORT}`]))
  const all = [...dials.values()]

  /** Returns the array after each successful change. */
  function arrays(): string[][] {
    const done = proxy.writes.filter(({ status }) => status === 200)
    return [all, ...done.map(({ body }) => (JSON.parse(body) as Upstream[]).map(({ dial }) => dial))]
  }
  const at = (url: string): object[] => [
    { name: 'edge', adapter: 'caddy', port: PORT, options: { url, handler: `id/${HANDLER}`, host: caddy.adminHost } },
  ]

  return {
    caddy,
    proxy,
    loadBalancers: at(proxy.url),
    at,
    history: () =>
      withoutRepetitions(
        [...dials.keys()],
        arrays().map((array) => (pod) => !array.includes(dials.get(pod)!)),
      ),
    sequence() {
      const outs = arrays().map((array) => [...dials.keys()].filter((pod) => !array.includes(dials.get(pod)!)).join(' '))
      return outs.filter((out, index) => out !== outs[index - 1])
    },
    // An entry returns at the end of the array, with the mark of its change.
    settings: async () => (await caddy.upstreams()).map(({ '@id': _mark, ...upstream }) => JSON.stringify(upstream)).sort(),
    async stop() {
      proxy.close()
      await caddy.stop()
    },
  }
}
