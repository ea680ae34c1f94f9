/** A bed of a real nginx. */
import { chmodSync } from 'node:fs'
import { formatAddress } from '../../address.ts'
import type { Adapter, Endpoint } from '../../contract.ts'
import { nginx } from '../../nginx/index.ts'
import type { Bed } from '../bed.ts'
import { startNginx } from './nginx-process.ts'
import { createTraffic, startPods } from './pods.ts'
import { AS_NOBODY, createScriptWire } from './script-wire.ts'

const LIVE_PODS = 3
/**
 * A number of requests that reaches every server in rotation, up to weight 9. Each of the two workers balances independently, and one of
 * them gets at least half of the requests.
 */
const ENOUGH = 40

export async function makeNginxBed({ servers, program }: { servers: number; program: string }): Promise<Bed> {
  const pods = await startPods(LIVE_PODS)
  // The cases send traffic only to the first three endpoints.
  const silent = Array.from({ length: servers - LIVE_PODS }, (_, index): Endpoint => {
    return { uid: `uid-silent-${index}`, pod: `silent-${index}`, address: '127.0.0.2', port: index + 1 }
  })
  const endpoints = [...pods.endpoints, ...silent]
  const process = await startNginx({ program, servers: endpoints }).catch((error: unknown) => {
    pods.close()
    throw error
  })
  // The adapter without permission runs as another user, and must be able to read the folder.
  chmodSync(process.folder, 0o755)
  const wire = createScriptWire(process.folder, "'-s' 'reload'")
  const traffic = createTraffic({ socketPath: process.front }, pods)
  const adapters: Adapter[] = []

  function create(prefix: string[]): Adapter {
    const options = nginx.options.parse({
      file: process.upstreamFile,
      upstream: 'web',
      hosts: [{ name: 'lb1', prefix }],
      pidFile: process.pidFile,
      test: [...process.command, '-t'],
      reload: [...process.command, '-s', 'reload'],
      settle: '0s',
    })
    const adapter = nginx.create(options, { name: 'edge' })
    adapters.push(adapter)
    return adapter
  }
  function lineOf(endpoint: Endpoint): RegExp {
    return new RegExp(`server ${formatAddress(endpoint).replaceAll('.', '\\.')}(?: weight=(\\d+))?( down)?;( # sluice)?.*`)
  }
  function setLine(endpoint: Endpoint, words: string, comment = ''): Promise<void> {
    return process.edit((text) => text.replace(lineOf(endpoint), `server ${formatAddress(endpoint)}${words};${comment}`))
  }
  async function isReached({ uid }: Endpoint): Promise<boolean> {
    for (let sent = 0; sent < ENOUGH; sent += 1) if ((await traffic.request()) === uid) return true
    return false
  }
  function weightOf(endpoint: Endpoint): number {
    return Number(lineOf(endpoint).exec(process.upstream())?.[1] ?? 1)
  }

  return {
    adapter: () => create(wire.prefix),
    endpoints,
    oracle: {
      /** The requests show the state in nginx. The file shows whether sluice or an operator set it. */
      async admin(endpoint) {
        const [, , down, mark] = lineOf(endpoint).exec(process.upstream()) ?? []
        const isIn = pods.endpoints.includes(endpoint) ? await isReached(endpoint) : down === undefined
        return isIn ? 'in' : down !== undefined && mark === undefined ? 'out' : 'draining'
      },
      weight: (endpoint) => Promise.resolve(weightOf(endpoint)),
    },
    operator: {
      maint: (endpoint) => setLine(endpoint, ' down'),
      drain: (endpoint) => setLine(endpoint, ' down', ' # sluice'),
      ready: (endpoint) => setLine(endpoint, ''),
      weight: (endpoint, weight) => setLine(endpoint, ` weight=${weight}`),
      lowestWeight: 1,
    },
    traffic,
    wire,
    // An effect runs two scripts first, and then nginx itself.
    shortDeadlineMs: 3_000,
    absent: { id: 'lb1/127.0.0.1:1@127.0.0.1:1', scope: `lb1:${process.upstreamFile}` },
    restart: () => process.restart(),
    ...(globalThis.process.getuid?.() === 0 ? { powerless: () => create(AS_NOBODY) } : {}),
    fencing: false,
    async close() {
      await Promise.all(adapters.map((adapter) => adapter.close()))
      await process.stop()
      pods.close()
    },
  }
}
