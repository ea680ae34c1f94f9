// The observer at 10,000 Services and 20,000 pods: memory, and the time that an event costs.
//   node --expose-gc bench/observer.ts [SERVICES]
import { seenPod, endpointsOf, seenService } from '../src/observer/testing/scene.ts'
import type { ObservedEvent } from '../src/observer/events.ts'
import { createObserver } from '../src/observer/observer.ts'

const services = Number(process.argv[2] ?? 10_000)
const PODS_EACH = 2
const NODES = 500
const ROUNDS = 20_000
const startedAt = 1_000_000
let at = startedAt

function heapMb(): number {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed / 1e6
}

function podOf(index: number, place: number, ready = true) {
  const name = `s${index}-${place}`
  const ip = `10.${(index >> 8) & 255}.${index & 255}.${place + 1}`
  return seenPod(name, { ip, ready, node: `node-${index % NODES}`, labels: { app: `s${index}`, team: `t${index % 50}` } })
}

const observer = createObserver({ clusters: ['east'], allNamespaces: true, graceMs: 10_000, startedAt })
const send = (event: ObservedEvent): number => observer.take(event).length
const before = heapMb()
const began = performance.now()
for (let index = 0; index < NODES; index += 1)
  send({ at, cluster: 'east', type: 'node', node: { metadata: { name: `node-${index}` }, ready: 'True', addresses: [] } })
const known = Array.from({ length: services }, (_, index) => seenService(`s${index}`))
for (const [index, service] of known.entries()) {
  const pods = Array.from({ length: PODS_EACH }, (_, place) => podOf(index, place))
  send({ at, cluster: 'east', type: 'service', service })
  for (const pod of pods) send({ at, cluster: 'east', type: 'pod', pod })
  for (const kind of ['EndpointSlice', 'Endpoints'] as const)
    send({ at, cluster: 'east', type: 'endpoints', endpoints: endpointsOf(kind, service, pods) })
}
send({ at, cluster: 'east', type: 'synced' })
const loadedMs = performance.now() - began
const events = services * (1 + PODS_EACH + 2)

let lines = 0
let spentMs = 0
for (let round = 0; round < ROUNDS; round += 1) {
  const index = (round * 7_919) % services
  const pods = Array.from({ length: PODS_EACH }, (_, place) =>
    podOf(index, place, place > 0 || Math.floor(round / services) % 2 === 1),
  )
  const slice = endpointsOf('EndpointSlice', known[index]!, pods)
  at += 10
  const start = performance.now()
  lines += send({ at, cluster: 'east', type: 'pod', pod: pods[0]! })
  lines += send({ at: at + 5, cluster: 'east', type: 'endpoints', endpoints: { ...slice, resourceVersion: String(round + 2) } })
  spentMs += performance.now() - start
}
console.log(`${services} Services, ${services * PODS_EACH} pods, ${NODES} nodes`)
console.log(`loaded: ${events} events in ${Math.round(loadedMs)} ms; the heap grew by ${Math.round(heapMb() - before)} MB`)
console.log(`then: ${ROUNDS * 2} events, ${Math.round((spentMs * 1_000) / (ROUNDS * 2))} µs each; ${lines} lines`)
