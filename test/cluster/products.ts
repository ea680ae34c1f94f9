/** Real load balancers besides HAProxy in the network of the cluster. Each has the pods of a bed, and no health checks. */
import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { HANDLER, startCaddy } from '../../adapters/conformance/beds/caddy-process.ts'
import { startEnvoy } from '../../adapters/conformance/beds/envoy-process.ts'
import { startNginx } from '../../adapters/conformance/beds/nginx-process.ts'
import { findPort } from '../../adapters/conformance/beds/product-process.ts'
import { startTraefik, urlOf } from '../../adapters/conformance/beds/traefik-process.ts'
import { formatAddress } from '../../adapters/address.ts'
import type { Endpoint } from '../../adapters/contract.ts'
import type { ProductName } from '../products/wheels.ts'
import type { Cluster } from './cluster.ts'
import type { KubeObject } from './kube-api.ts'
import { appPort } from './manifests.ts'
import { enter } from './namespace.ts'

export interface Product {
  /** The address for traffic from inside the network of the cluster. */
  url: string
  /** The entry in the config of sluice. */
  loadBalancer: { name: string; adapter: string; port: number; options: Record<string, unknown> }
  /** Returns for each pod whether it was out, look by look, without repetitions. The product itself is the source. */
  history(): Promise<Record<string, boolean[]>>
  stop(): Promise<void>
}

type Start = (bed: Bed) => Promise<Omit<Product, 'stop'> & { stop(): Promise<void> }>

interface Bed {
  program: string
  folder: string
  endpoints: readonly Endpoint[]
  reach(port: number): Promise<number>
}

const starts: Record<ProductName, Start> = { caddy: behindCaddy, envoy: behindEnvoy, nginx: behindNginx, traefik: behindTraefik }

export async function startProduct(
  cluster: Cluster,
  name: ProductName,
  program: string,
  pods: readonly KubeObject[],
): Promise<Product> {
  const folder = join(cluster.info.dir, `${name}-${process.pid}-${await findPort()}`)
  await mkdir(folder)
  const entering = join(folder, 'in-the-cluster')
  const [command, args] = enter(cluster.info, 'network', program, [])
  await writeFile(entering, `#!/bin/sh\nexec ${[command, ...args].join(' ')} "$@"\n`)
  await chmod(entering, 0o755)
  const forwards: (() => Promise<void>)[] = []
  const endpoints = pods.map(({ metadata, status }): Endpoint => {
    return { uid: metadata.uid, pod: metadata.name, address: status.podIP, port: appPort }
  })
  async function reach(port: number): Promise<number> {
    const forward = await cluster.forward(`127.0.0.1:${port}`)
    forwards.push(() => forward.close())
    return forward.port
  }
  const product = await starts[name]({ program: entering, folder, endpoints, reach })
  return {
    ...product,
    async stop() {
      await product.stop()
      await Promise.all(forwards.map((close) => close()))
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function behindEnvoy({ program, folder, endpoints, reach }: Bed): ReturnType<Start> {
  const frontPort = await findPort()
  const envoy = await startEnvoy({ program, folder, endpoints, checked: 0, frontPort, reach })
  interface Clusters {
    cluster_statuses: { name: string; host_statuses: HostStatus[] }[]
  }
  interface HostStatus {
    address: { socket_address: { address: string; port_value: number } }
    health_status: { eds_health_status?: string }
  }
  const watch = startWatch(endpoints, async () => {
    const { cluster_statuses: statuses } = JSON.parse(await envoy.ask('/clusters?format=json')) as Clusters
    const hosts = statuses.find(({ name }) => name === 'web')!.host_statuses
    return hosts
      .filter(({ health_status: { eds_health_status: status } }) => status === 'DRAINING')
      .map(({ address: { socket_address: at } }) => formatAddress({ address: at.address, port: at.port_value }))
  })
  return {
    url: `http://127.0.0.1:${frontPort}/`,
    loadBalancer: {
      name: 'mesh',
      adapter: 'envoy',
      port: appPort,
      options: { file: envoy.file, cluster: 'web', admin: [envoy.admin] },
    },
    history: watch.history,
    async stop() {
      await watch.stop()
      await envoy.stop()
    },
  }
}

async function behindTraefik({ program, folder, endpoints, reach }: Bed): ReturnType<Start> {
  const throttle = '100ms'
  const traefik = await startTraefik({ program, folder, endpoints, throttle, checkEvery: 'never', reach })
  const watch = startWatch(endpoints, async () => {
    const out = new Set((await traefik.servers()).filter(({ weight }) => weight === 0).map(({ url }) => url))
    return endpoints.filter((endpoint) => out.has(urlOf(endpoint))).map(formatAddress)
  })
  return {
    url: `http://${traefik.front.host}:${traefik.front.port}/`,
    loadBalancer: {
      name: 'edge',
      adapter: 'traefik',
      port: appPort,
      options: { file: traefik.file, service: 'web', api: [traefik.api], throttle, settle: '1s' },
    },
    history: watch.history,
    async stop() {
      await watch.stop()
      await traefik.stop()
    },
  }
}

async function behindCaddy({ program, endpoints, reach }: Bed): ReturnType<Start> {
  const caddy = await startCaddy(program, endpoints, reach)
  const watch = startWatch(endpoints, async () => {
    const there = new Set((await caddy.upstreams()).map(({ dial }) => dial))
    return endpoints.map(formatAddress).filter((address) => !there.has(address))
  })
  return {
    url: `http://${caddy.front.host}:${caddy.front.port}/`,
    loadBalancer: {
      name: 'edge',
      adapter: 'caddy',
      port: appPort,
      options: { url: caddy.adminUrl, handler: `id/${HANDLER}`, host: caddy.adminHost },
    },
    history: watch.history,
    async stop() {
      await watch.stop()
      await caddy.stop()
    },
  }
}

/** Starts nginx, which cannot be asked for its servers: each reload records the loaded file. */
async function behindNginx({ program, folder, endpoints }: Bed): ReturnType<Start> {
  const frontPort = await findPort()
  const nginx = await startNginx({ program, servers: endpoints, frontPort })
  const log = join(folder, 'loaded')
  await writeFile(log, '')
  const reload = [...nginx.command, '-s', 'reload']
  return {
    url: `http://127.0.0.1:${frontPort}/`,
    loadBalancer: {
      name: 'edge',
      adapter: 'nginx',
      port: appPort,
      options: {
        file: nginx.upstreamFile,
        upstream: 'web',
        pidFile: nginx.pidFile,
        test: [...nginx.command, '-t'],
        reload: ['sh', '-c', 'cat "$0" >>"$1"; echo "--" >>"$1"; shift; exec "$@"', nginx.upstreamFile, log, ...reload],
        settle: '1s',
      },
    },
    async history() {
      const loaded = (await readFile(log, 'utf8')).split('--\n').slice(0, -1)
      const looks = loaded.map((text) => {
        const down = text.split('\n').filter((line) => / down;/.test(line))
        return new Set(endpoints.map(formatAddress).filter((address) => down.some((line) => line.includes(`server ${address} `))))
      })
      return historyOf(endpoints, [new Set(), ...looks])
    },
    stop: () => nginx.stop(),
  }
}

function historyOf(endpoints: readonly Endpoint[], looks: readonly ReadonlySet<string>[]): Record<string, boolean[]> {
  return Object.fromEntries(
    endpoints.map((endpoint) => {
      const states = looks.map((out) => out.has(formatAddress(endpoint)))
      return [endpoint.pod, states.filter((state, index) => state !== states[index - 1])]
    }),
  )
}

/** The interval between looks. It is too short for a pod to be taken out and put back between two looks. */
const LOOK_EVERY_MS = 20

/** Looks at the addresses that are out, until it is stopped. A look without an answer does not count. */
function startWatch(
  endpoints: readonly Endpoint[],
  look: () => Promise<readonly string[]>,
): { history(): Promise<Record<string, boolean[]>>; stop(): Promise<void> } {
  const looks: ReadonlySet<string>[] = []
  const stopping = new AbortController()
  async function lookOnce(): Promise<void> {
    const out = await look().catch(() => undefined)
    if (out !== undefined) looks.push(new Set(out))
  }
  async function lookOn(): Promise<void> {
    while (!stopping.signal.aborted) {
      await lookOnce()
      await sleep(LOOK_EVERY_MS)
    }
  }
  const ended = lookOn()
  return {
    async history() {
      await lookOnce()
      return historyOf(endpoints, looks)
    },
    async stop() {
      stopping.abort()
      await ended
    },
  }
}
