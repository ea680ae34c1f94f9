/** Envoy itself as a bed, with its endpoints in a file. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Adapter, Endpoint } from '../../contract.ts'
import { envoy } from '../../envoy/index.ts'
import type { Bed } from '../bed.ts'
import { editEds, type LbEndpoint, startEnvoy } from './envoy-process.ts'
import { waitUntil } from './haproxy-process.ts'
import { createTraffic, startPods } from './pods.ts'
import { createScriptWire } from './script-wire.ts'

const LIVE_PODS = 3

export interface EnvoyBedOptions {
  servers: number
  program: string
  /** Whether the adapter asks Envoy, or goes by the file alone. */
  asks: 'admin' | 'file'
}

export async function makeEnvoyBed({ servers, program, asks }: EnvoyBedOptions): Promise<Bed> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-envoy-'))
  // The adapter without rights runs as another user, and reads.
  chmodSync(folder, 0o755)
  const pods = await startPods(LIVE_PODS)
  // No case sends traffic to more than the first three.
  const silent = Array.from({ length: servers - LIVE_PODS }, (_, index): Endpoint => {
    return { uid: `uid-silent-${index}`, pod: `silent-${index}`, address: '127.0.0.2', port: index + 1 }
  })
  const endpoints = [...pods.endpoints, ...silent]
  const removeAll = (): void => {
    pods.close()
    rmSync(folder, { recursive: true, force: true })
  }
  // Most of a batch is out at once: at Envoy's own threshold all of it would get requests again.
  const process = await startEnvoy({ program, folder, endpoints, panicThreshold: 0 }).catch((error: unknown) => {
    removeAll()
    throw error
  })
  const wire = createScriptWire(folder, 'mv -f')
  const adapters: Adapter[] = []
  let edits = 0

  async function admin(endpoint: Endpoint): Promise<'in' | 'draining' | 'out'> {
    const flags = (await process.field(endpoint, 'health_flags')) ?? ''
    if (flags.includes('draining')) return 'draining'
    return flags.includes('failed_eds_health') ? 'out' : 'in'
  }
  /** What the operator did is over once Envoy has it. */
  async function edit(endpoint: Endpoint, change: (endpoint: LbEndpoint) => void): Promise<void> {
    edits += 1
    const version = `operator-${edits}`
    editEds(
      process.file,
      endpoints.findIndex(({ uid }) => uid === endpoint.uid),
      version,
      change,
    )
    const hasTaken = async (): Promise<boolean> => (await process.ask('/stats?filter=version_text')).includes(`"${version}"`)
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
    restart: () => process.restart(),
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
    // A write is some twenty programs.
    shortDeadlineMs: 2_500,
    async close() {
      await Promise.all(adapters.map((adapter) => adapter.close()))
      await process.stop()
      removeAll()
    },
  }
}
