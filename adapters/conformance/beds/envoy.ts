/** A bed of a real Envoy with its endpoints in a file. */
import { createHash } from 'node:crypto'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Adapter, Endpoint } from '../../contract.ts'
import { envoy } from '../../envoy/index.ts'
import type { Bed } from '../bed.ts'
import { editEds, edsText, type LbEndpoint, startEnvoy } from './envoy-process.ts'
import { waitUntil } from './haproxy-process.ts'
import { createTraffic, startPods } from './pods.ts'
import { createScriptWire } from './script-wire.ts'

const LIVE_PODS = 3

/** The cases whose result depends on the source from which the adapter reads the state of Envoy. */
export const BY_SOURCE = [
  'drain-and-restore',
  'no-new-requests',
  'in-flight',
  'operators-maint',
  'restart-keeps',
  'request-lost',
  'false-success',
] as const

export interface EnvoyBedOptions {
  servers: number
  program: string
  /** The source of the state: the admin interface of Envoy, the file only, or the server from which Envoy fetches its endpoints. */
  asks: 'admin' | 'file' | { serve: (config: ServedConfig) => Promise<Served> }
}

/** Starts `sluice adapter serve` for this load balancer. */
export interface ServedConfig {
  folder: string
  loadBalancer: object
}

export interface Served {
  port: number
  stop(): Promise<unknown>
}

export async function makeEnvoyBed({ servers, program, asks }: EnvoyBedOptions): Promise<Bed> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-envoy-'))
  // The adapter without permission runs as another user, and must be able to read the folder.
  chmodSync(folder, 0o755)
  const pods = await startPods(LIVE_PODS)
  // The cases send traffic only to the first three endpoints.
  const silent = Array.from({ length: servers - LIVE_PODS }, (_, index): Endpoint => {
    return { uid: `uid-silent-${index}`, pod: `silent-${index}`, address: '127.0.0.2', port: index + 1 }
  })
  const endpoints = [...pods.endpoints, ...silent]
  let served: Served | undefined
  const removeAll = async (): Promise<void> => {
    pods.close()
    await served?.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  if (typeof asks === 'object') {
    const file = join(folder, 'eds.yaml')
    writeFileSync(file, edsText(endpoints))
    // The server does not use its own URL.
    const options = { file, cluster: 'web', server: { url: 'http://127.0.0.1:1', nodes: ['bed'] } }
    served = await asks.serve({ folder, loadBalancer: { name: 'edge', adapter: 'envoy', port: 8080, options } })
  }
  // A case drains most endpoints at once. With the default threshold, Envoy would send requests to all of them again.
  const own = { program, folder, endpoints, panicThreshold: 0 }
  const process = await startEnvoy({ ...own, ...(served && { discoveryPort: served.port }) }).catch(async (error: unknown) => {
    await removeAll()
    throw error
  })
  /** Waits for the second request of Envoy. Envoy reports the version that it has loaded only in the second request. */
  async function waitUntilServed({ port }: Served): Promise<void> {
    const isKnown = async (): Promise<boolean> =>
      (await (await fetch(`http://127.0.0.1:${port}/nodes`)).text()).includes('"statuses"')
    await waitUntil(isKnown, 'Envoy has asked for its endpoints')
  }
  if (served !== undefined) await waitUntilServed(served)
  const wire = createScriptWire(folder, 'mv -f')
  const adapters: Adapter[] = []
  let edits = 0

  async function admin(endpoint: Endpoint): Promise<'in' | 'draining' | 'out'> {
    const flags = (await process.field(endpoint, 'health_flags')) ?? ''
    if (flags.includes('draining')) return 'draining'
    return flags.includes('failed_eds_health') ? 'out' : 'in'
  }
  /** Changes the file as an operator. Resolves when Envoy has taken the change. */
  async function edit(endpoint: Endpoint, change: (endpoint: LbEndpoint) => void): Promise<void> {
    edits += 1
    const version = `operator-${edits}`
    editEds(
      process.file,
      endpoints.findIndex(({ uid }) => uid === endpoint.uid),
      version,
      change,
    )
    const shown = served === undefined ? version : hashOf(readFileSync(process.file))
    const hasTaken = async (): Promise<boolean> => (await process.ask('/stats?filter=version_text')).includes(`"${shown}"`)
    await waitUntil(hasTaken, 'Envoy has taken the file')
  }
  const set = (endpoint: Endpoint, status: string | undefined): Promise<void> =>
    edit(endpoint, (lbEndpoint) => {
      if (status === undefined) delete lbEndpoint.health_status
      else lbEndpoint.health_status = status
    })

  function create(): Adapter {
    const options = {
      file: process.file,
      prefix: wire.prefix,
      cluster: 'web',
      ...(asks === 'admin' ? { admin: [process.admin] } : { settle: '1s' }),
      ...(served === undefined ? {} : { server: { url: `http://127.0.0.1:${served.port}`, nodes: ['bed'] } }),
    }
    const adapter = envoy.create(envoy.options.parse(options), { name: 'edge' })
    adapters.push(adapter)
    return adapter
  }

  return {
    adapter: create,
    endpoints,
    oracle: { admin, weight: async (endpoint) => Number(await process.field(endpoint, 'weight')) },
    operator: {
      maint: (endpoint) => set(endpoint, 'UNHEALTHY'),
      drain: (endpoint) => set(endpoint, 'DRAINING'),
      ready: (endpoint) => set(endpoint, undefined),
      weight: (endpoint, weight) =>
        edit(endpoint, (lbEndpoint) => {
          lbEndpoint.load_balancing_weight = weight
        }),
      lowestWeight: 1,
    },
    traffic: createTraffic({ socketPath: process.front }, pods),
    wire,
    absent: { id: '127.0.0.1:1', scope: `${[...wire.prefix, process.file].join(' ')}#web` },
    async restart() {
      await process.restart()
      if (served !== undefined) await waitUntilServed(served)
    },
    ...(asks === 'admin'
      ? {
          async breakHealth(endpoint: Endpoint) {
            pods.stop(endpoint.uid)
            await waitUntil(
              async () => (await process.field(endpoint, 'health_flags'))?.includes('failed_active_hc') === true,
              `${endpoint.pod} is down`,
            )
          },
        }
      : {}),
    ...(wire.becomeNobody === undefined
      ? {}
      : {
          powerless() {
            wire.becomeNobody!()
            return create()
          },
        }),
    fencing: false,
    // A write runs about twenty programs.
    shortDeadlineMs: 2_500,
    async close() {
      await Promise.all(adapters.map((adapter) => adapter.close()))
      await process.stop()
      await removeAll()
    },
  }
}

function hashOf(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex').slice(0, 16)
}
