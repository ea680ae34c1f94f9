/** A bed of a real Traefik with its service in a file. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Adapter, Endpoint } from '../../contract.ts'
import { traefik } from '../../traefik/index.ts'
import type { Bed } from '../bed.ts'
import { createTraffic, startPods } from './pods.ts'
import { createScriptWire } from './script-wire.ts'
import { editServers, readServers, startTraefik, urlOf, waitForServers } from './traefik-process.ts'

const LIVE_PODS = 3
/** The throttle is short, so that a change does not wait long after the previous one. */
const THROTTLE = '50ms'

export interface TraefikBedOptions {
  servers: number
  program: string
  /** The source of the state: the API of Traefik, or the file only. */
  asks: 'api' | 'file'
}

export async function makeTraefikBed({ servers, program, asks }: TraefikBedOptions): Promise<Bed> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-traefik-'))
  // The adapter without permission runs as another user, and must be able to read the folder.
  chmodSync(folder, 0o755)
  const pods = await startPods(LIVE_PODS)
  // The cases send traffic only to the first three endpoints.
  const silent = Array.from({ length: servers - LIVE_PODS }, (_, index): Endpoint => {
    return { uid: `uid-silent-${index}`, pod: `silent-${index}`, address: '127.0.0.2', port: index + 1 }
  })
  const endpoints = [...pods.endpoints, ...silent]
  const removeAll = (): void => {
    pods.close()
    rmSync(folder, { recursive: true, force: true })
  }
  const process = await startTraefik({ program, folder, endpoints, throttle: THROTTLE }).catch((error: unknown) => {
    removeAll()
    throw error
  })
  const wire = createScriptWire(folder, 'mv -f')
  const adapters: Adapter[] = []

  /** The weight in Traefik, once Traefik shows the content of the file. */
  async function weightOf(endpoint: Endpoint): Promise<number> {
    const written = readServers(process.file)
    await waitForServers(process, (all) => isDeepStrictEqual(all, written))
    return written.find(({ url }) => url === urlOf(endpoint))!.weight ?? 1
  }
  async function set(endpoint: Endpoint, weight: number | undefined): Promise<void> {
    editServers(process.file, (all) => {
      const server = all.find(({ url }) => url === urlOf(endpoint))!
      if (weight === undefined) delete server.weight
      else server.weight = weight
    })
    await waitForServers(process, (all) => all.some((one) => one.url === urlOf(endpoint) && one.weight === weight))
  }

  function create(): Adapter {
    const options = {
      file: process.file,
      prefix: wire.prefix,
      service: 'web',
      throttle: THROTTLE,
      settle: '0s',
      ...(asks === 'api' ? { api: [process.api] } : {}),
    }
    const adapter = traefik.create(traefik.options.parse(options), { name: 'edge' })
    adapters.push(adapter)
    return adapter
  }

  return {
    adapter: create,
    endpoints,
    oracle: { admin: async (endpoint) => ((await weightOf(endpoint)) > 0 ? 'in' : 'draining'), weight: weightOf },
    operator: {
      drain: (endpoint) => set(endpoint, 0),
      ready: (endpoint) => set(endpoint, undefined),
      weight: (endpoint, weight) => set(endpoint, weight),
    },
    traffic: createTraffic(process.front, pods),
    wire,
    absent: { id: '127.0.0.1:1', scope: `${[...wire.prefix, process.file].join(' ')}#web` },
    restart: () => process.restart(),
    // The bed has no breakHealth: after each change, Traefik takes every server for healthy until its next check. See traefik.test.ts.
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
      removeAll()
    },
  }
}
