import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import type { Bed, MakeBed } from '../adapters/conformance/bed.ts'
import { makeCaddyBed } from '../adapters/conformance/beds/caddy.ts'
import { makeEnvoyBed } from '../adapters/conformance/beds/envoy.ts'
import { startEureka } from '../adapters/conformance/beds/eureka-process.ts'
import { makeEurekaBed } from '../adapters/conformance/beds/eureka.ts'
import { whyNoHaproxy } from '../adapters/conformance/beds/haproxy-process.ts'
import { makeHaproxyBed } from '../adapters/conformance/beds/haproxy.ts'
import { makeNginxBed } from '../adapters/conformance/beds/nginx.ts'
import { makeTraefikBed } from '../adapters/conformance/beds/traefik.ts'
import { countCalls, oneByOne } from '../test/products/count-calls.ts'
import { findEureka } from '../test/products/eureka.ts'
import { findProduct } from '../test/products/find-product.ts'
import type { Program } from '../test/products/program.ts'

/*
 * `npm run bench:calls -- [--targets N] [--drained N] [--only NAME]` counts the calls that drain and restore some of many targets of one
 * backend at once, as a window does. For nginx these are reloads, for Envoy and Traefik writes of the file. It compares with one call for
 * each pod.
 */

const { values } = parseArgs({
  options: {
    targets: { type: 'string', default: '500' },
    drained: { type: 'string', default: '50' },
    only: { type: 'string' },
  },
})
const [targets, drained] = [Number(values.targets), Number(values.drained)]

interface Product {
  name: string
  find(): Promise<Program>
  make(program: string): MakeBed
}

const products: Product[] = [
  {
    name: 'haproxy',
    find: () => Promise.resolve(installedHaproxy()),
    make: (program) => (options) => makeHaproxyBed({ ...options, program }),
  },
  { name: 'nginx', find: () => findProduct('nginx'), make: (program) => (options) => makeNginxBed({ ...options, program }) },
  {
    name: 'envoy',
    find: () => findProduct('envoy'),
    make: (program) => (options) => makeEnvoyBed({ ...options, program, asks: 'admin' }),
  },
  {
    name: 'traefik',
    find: () => findProduct('traefik'),
    make: (program) => (options) => makeTraefikBed({ ...options, program, asks: 'api' }),
  },
  { name: 'caddy', find: () => findProduct('caddy'), make: (program) => (options) => makeCaddyBed({ ...options, program }) },
  { name: 'eureka', find: findEureka, make: eurekaBed },
]

function installedHaproxy(): Program {
  const missing = whyNoHaproxy()
  if (missing !== undefined) return { title: missing, program: undefined, version: undefined }
  const version = /\d+\.\d+\.\d+/.exec(spawnSync('haproxy', ['-v'], { encoding: 'utf8' }).stdout)?.[0]
  return { title: `haproxy ${version} (installed)`, program: 'haproxy', version }
}

/** The server ends with its bed. */
function eurekaBed(jar: string): MakeBed {
  return async (options) => {
    const eureka = await startEureka(jar)
    const bed = await makeEurekaBed({ ...options, eureka })
    return {
      ...bed,
      async close() {
        await bed.close()
        await eureka.stop()
      },
    }
  }
}

async function measure(bed: Bed, title: string): Promise<void> {
  const adapter = bed.adapter()
  // The first call of an adapter opens connections.
  await countCalls(bed, adapter, 1)
  const together = await countCalls(bed, adapter, drained)
  const single = await countCalls(bed, oneByOne(adapter), drained)
  const calls = ({ drains, restores }: typeof single): string => `${drains} + ${restores}`
  const cells = [
    title,
    `${adapter.capabilities.maxBatch}`,
    calls(together),
    calls(single),
    seconds(together.ms),
    seconds(single.ms),
  ]
  print([...cells, `${(single.ms / together.ms).toFixed(1)} ×`])
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(2)} s`
}

function print(cells: readonly string[]): void {
  console.log(`| ${cells.join(' | ')} |`)
}

console.log(`${targets} targets of one backend, ${drained} of them drained at once, and put back:\n`)
print(['load balancer', 'targets a call', 'calls', 'one call a pod', 'took', 'one call a pod took', 'ratio'])
print(['---', '---', '---', '---', '---', '---', '---'])
const chosen = products.filter((product) => values.only === undefined || product.name === values.only)
for (const { name, find, make } of chosen) {
  const { title, program } = await find()
  if (program === undefined) {
    console.log(`${name}: ${title}`)
    continue
  }
  const bed = await make(program)({ servers: targets })
  try {
    await measure(bed, title)
  } finally {
    await bed.close()
  }
}
