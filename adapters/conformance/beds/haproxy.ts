/** A bed of a real HAProxy. */
import { join } from 'node:path'
import type { Adapter, Endpoint } from '../../contract.ts'
import { haproxy } from '../../haproxy/index.ts'
import type { Bed } from '../bed.ts'
import { startHaproxy, waitUntil } from './haproxy-process.ts'
import { createTraffic, startPods } from './pods.ts'
import { startRuntimeProxy } from './runtime-proxy.ts'

const LIVE_PODS = 3

export async function makeHaproxyBed({ servers, program }: { servers: number; program: string }): Promise<Bed> {
  const pods = await startPods(LIVE_PODS)
  // The cases send traffic only to the first three endpoints.
  const silent = Array.from({ length: servers - LIVE_PODS }, (_, index): Endpoint => {
    return { uid: `uid-silent-${index}`, pod: `silent-${index}`, address: '127.0.0.2', port: index + 1 }
  })
  const endpoints = [...pods.endpoints, ...silent]
  const process = await startHaproxy({ endpoints, program })
  const socket = join(process.folder, 'proxy.sock')
  const wire = await startRuntimeProxy(process.adminSocket, socket)
  const adapters: Adapter[] = []

  function create(path: string): Adapter {
    const adapter = haproxy.create(haproxy.options.parse({ socket: path, backend: 'web' }), { name: 'edge' })
    adapters.push(adapter)
    return adapter
  }
  function nameOf({ uid }: Endpoint): string {
    return `w${endpoints.findIndex((endpoint) => endpoint.uid === uid)}`
  }
  async function set(endpoint: Endpoint, what: string): Promise<void> {
    const said = await process.ask(`set server web/${nameOf(endpoint)} ${what}`)
    if (said !== '') throw new Error(said)
  }
  /** The status of the server. The adapter reads `show servers state`, so the bed uses another command with another format. */
  async function status(endpoint: Endpoint): Promise<string> {
    const [header = '', ...rows] = (await process.ask('show stat -1 4 -1')).split('\n')
    const column = header.split(',').indexOf('status')
    const row = rows.find((line) => line.startsWith(`web,${nameOf(endpoint)},`))
    return row?.split(',')[column] ?? 'absent'
  }
  async function close(): Promise<void> {
    await Promise.all(adapters.map((adapter) => adapter.close()))
    wire.close()
    pods.close()
    await process.stop()
  }
  try {
    await waitUntil(async () => (await status(endpoints[2]!)).startsWith('UP'), 'the first health checks have passed')
  } catch (error) {
    // The caller has no bed to close yet.
    await close()
    throw error
  }

  return {
    adapter: () => create(socket),
    endpoints,
    oracle: {
      async admin(endpoint) {
        const shown = await status(endpoint)
        if (shown.startsWith('MAINT')) return 'out'
        return shown.startsWith('DRAIN') ? 'draining' : 'in'
      },
      weight: async (endpoint) => Number.parseInt(await process.ask(`get weight web/${nameOf(endpoint)}`), 10),
    },
    operator: {
      maint: (endpoint) => set(endpoint, 'state maint'),
      drain: (endpoint) => set(endpoint, 'state drain'),
      ready: (endpoint) => set(endpoint, 'state ready'),
      weight: (endpoint, weight) => set(endpoint, `weight ${weight}`),
    },
    traffic: createTraffic({ socketPath: process.front }, pods),
    wire,
    absent: { id: 'web/gone@127.0.0.1:1', scope: `${socket}/web` },
    restart: () => process.reload(),
    async breakHealth(endpoint) {
      pods.stop(endpoint.uid)
      const row = new RegExp(`^\\d+ web \\d+ ${nameOf(endpoint)} \\S+ 0 `, 'm')
      await waitUntil(async () => row.test(await process.ask('show servers state web')), `${endpoint.pod} is down`)
    },
    powerless: () => create(process.operatorSocket),
    fencing: false,
    close,
  }
}
