/** Several sluices change one document without a version, each under the Lease of the document, while calls and processes fail. */
import { expect, test } from 'vitest'
import { type Adapter, AdapterError, type EffectCall, type EffectResult } from '../../adapters/contract.ts'
import { withinLocks } from '../../src/engine/locks/within-locks.ts'
import { createLeaseServer, type LeaseFault } from '../../src/engine/testing/lease-server.ts'
import type { KubeClient } from '../../src/kube/client.ts'
import { KubeError } from '../../src/kube/errors.ts'
import { createHost, type Host } from './host.ts'
import { createRandom, type SeededRandom } from './random.ts'
import { createScheduler, type Scheduler } from './scheduler.ts'

const PROCESSES = 3
const ENTRIES = 4
/** The life of a call, as the scope queue gives it. */
const CALL_LIFE_MS = 10_000
/** The longest stop of a process, or sleep of a machine. It exceeds the duration of a Lease. */
const LONGEST_STOP_MS = 40_000
const LONGEST_PAUSE_MS = 3_000
const CHANGES_EACH = 12

interface Variant {
  withoutLock?: true
  /** The adapter ignores the liveness of its caller: it sends in any case. */
  deafToLiveness?: true
  /** A lost answer counts as a call that never left. */
  lostIsUnsent?: true
}

interface Document {
  entries: Record<string, string>
  /** The version in the world. No process can read it. */
  version: number
}

interface Outcome {
  applied: number
  refused: Record<string, number>
  /** The number of writes over a version that their process has not read. */
  lost: number
}

async function play(seed: number, variant: Variant = {}): Promise<Outcome> {
  const random = createRandom(seed)
  const scheduler = createScheduler()
  const server = createLeaseServer()
  const document: Document = { entries: {}, version: 0 }
  const outcome: Outcome = { applied: 0, refused: {}, lost: 0 }
  const faultRate = random.pick([0, 0.05, 0.2])
  let ended = 0

  function arrive(entries: Record<string, string>, readVersion: number): void {
    if (readVersion !== document.version) outcome.lost += 1
    document.entries = entries
    document.version += 1
  }

  for (let index = 0; index < PROCESSES; index += 1) {
    const stream = random.fork(`process ${index}`)
    const begin = (life: number): void => {
      const host = createHost({
        name: `sluice-${index}-${life}`,
        scheduler,
        originMs: stream.integer(0, 1_000_000),
        wallOffsetMs: stream.integer(-2_000, 2_000),
      })
      disturb(host, scheduler, stream, () => life < 2 && begin(life + 1))
      const lock = { client: slowClient(server, host, scheduler, stream, faultRate), namespace: 'shop', document: 'http://edge' }
      const adapter = documentAdapter({ host, scheduler, random: stream, document, arrive, variant })
      const [edge] = withinLocks(
        [{ name: 'edge', adapterName: 'document', adapter, port: 80, ...(variant.withoutLock ? {} : { lock }) }],
        // All processes have one name. Each makes its identity unique.
        { clock: host.clock, random: stream.fork(`lock of life ${life}`), identity: 'runner-0_1' },
      )
      host.deliver(() => void changes(edge!.adapter, host, stream))
    }
    begin(0)
  }

  async function changes(adapter: Adapter, host: Host, stream: SeededRandom): Promise<void> {
    for (let count = 0; count < CHANGES_EACH; count += 1) {
      await new Promise<void>((go) => host.clock.setTimeout(go, stream.between(0, LONGEST_PAUSE_MS)))
      const target = { id: `web-${stream.integer(0, ENTRIES - 1)}`, scope: 'web' }
      const call: EffectCall = { deadlineMs: CALL_LIFE_MS, assertLive() {}, operationIds: new Map(), fence: 1 }
      try {
        await (stream.chance(0.5) ? adapter.drain([target], call) : adapter.restore([{ target, prior: null }], call))
        outcome.applied += 1
      } catch (error) {
        if (!(error instanceof AdapterError)) throw error
        const why = error.message.split(': ')[1]!
        outcome.refused[why] = (outcome.refused[why] ?? 0) + 1
      }
    }
    ended += 1
  }

  await scheduler.run({ done: () => ended === PROCESSES, untilMs: 3_600_000, mostTurns: 200_000 })
  return outcome
}

/** Kills a process, which is started again, or stops it for a while, at moments of the seed. */
function disturb(host: Host, scheduler: Scheduler, random: SeededRandom, again: () => unknown): void {
  if (random.chance(0.3))
    scheduler.after(random.between(0, 60_000), () => {
      host.kill()
      scheduler.after(random.between(0, 5_000), again)
    })
  for (let stops = random.integer(0, 3); stops > 0; stops -= 1)
    scheduler.after(random.between(0, 120_000), () => {
      host.stop()
      scheduler.after(random.between(0, LONGEST_STOP_MS), () => host.continue())
    })
}

/** The API server over a network: requests take time, answers are lost, and a client gives up at its deadline. */
function slowClient(
  server: ReturnType<typeof createLeaseServer>,
  host: Host,
  scheduler: Scheduler,
  random: SeededRandom,
  faultRate: number,
): KubeClient {
  const latency = (): number => (random.chance(faultRate) ? random.between(0, 6_000) : random.between(0, 50))
  function travel<Value>(method: string, path: string, deadlineMs: number, work: () => Promise<Value>): Promise<Value> {
    return new Promise((resolve, reject) => {
      const late = (): void =>
        reject(new KubeError(`${method} ${path}: no answer`, { kind: method === 'GET' ? 'definite' : 'ambiguous', method, path }))
      const timer = host.clock.setTimeout(late, deadlineMs)
      scheduler.after(latency(), () => {
        server.fault = (): LeaseFault =>
          random.chance(faultRate) ? random.pick(['lost', 'unanswered', 'unsent'] as const) : undefined
        const answered = work()
        const back = (settle: () => void): void => {
          scheduler.after(latency(), () =>
            host.deliver(() => {
              host.clock.clearTimeout(timer)
              settle()
            }),
          )
        }
        answered.then(
          (value) => back(() => resolve(value)),
          (error: Error) => back(() => reject(error)),
        )
      })
    })
  }
  const { client } = server
  return {
    ...client,
    get: (path, { deadlineMs = 15_000 } = {}) => travel('GET', path, deadlineMs, () => client.get(path)),
    create: (path, body, { deadlineMs = 15_000 } = {}) => travel('POST', path, deadlineMs, () => client.create(path, body)),
    replace: (path, body, { deadlineMs = 15_000 } = {}) => travel('PUT', path, deadlineMs, () => client.replace(path, body)),
  }
}

interface DocumentBed {
  host: Host
  scheduler: Scheduler
  random: SeededRandom
  document: Document
  arrive(entries: Record<string, string>, readVersion: number): void
  variant: Variant
}

/** Reads the whole document, and writes it with one entry changed. A write arrives within the life of the call, or never. */
function documentAdapter({ host, scheduler, random, document, arrive, variant }: DocumentBed): Adapter {
  const slow = (mostMs: number): Promise<void> => new Promise((go) => host.clock.setTimeout(go, random.between(0, mostMs)))

  async function change(id: string, state: string, call: EffectCall): Promise<Map<string, EffectResult>> {
    const endsAt = host.clock.now() + call.deadlineMs
    await slow(random.chance(0.1) ? 6_000 : 200)
    const { version, entries } = document
    const written = { ...entries, [id]: state }
    await slow(100)
    if (!variant.deafToLiveness) call.assertLive()
    if (host.clock.now() >= endsAt) throw new AdapterError('document edge', 'retryable', 'no time is left')
    const leftMs = endsAt - host.clock.now()
    const isSlow = random.chance(0.1)
    const isLost = random.chance(0.05)
    const arrivesInMs = isSlow ? random.between(0, leftMs) : Math.min(leftMs, random.between(0, 100))
    scheduler.after(arrivesInMs, () => arrive(written, version))
    await new Promise<void>((go) => {
      host.clock.setTimeout(go, isLost || isSlow ? random.between(0, leftMs) : arrivesInMs)
    })
    if (isLost || isSlow) {
      const kind = variant.lostIsUnsent ? 'retryable' : 'ambiguous'
      throw new AdapterError('document edge', kind, 'the connection was closed')
    }
    return new Map([[id, { outcome: 'applied' }]])
  }

  const unused = (): never => {
    throw new Error('not asked here')
  }
  return {
    capabilities: {
      guarantee: 'G1',
      maxBatch: 1,
      inspect: 'strong',
      inFlight: 'none',
      volatileOnReload: false,
      disruptsOthers: false,
      settleMs: 0,
    },
    resolve: unused,
    inspect: unused,
    snapshot: unused,
    drain: ([target], call) => change(target!.id, 'draining', call),
    restore: ([wanted], call) => change(wanted!.target.id, 'in', call),
    async close() {},
  }
}

async function playAll(seeds: number, variant?: Variant): Promise<Outcome> {
  const all: Outcome = { applied: 0, refused: {}, lost: 0 }
  for (let seed = 1; seed <= seeds; seed += 1) {
    const one = await play(seed, variant)
    all.applied += one.applied
    all.lost += one.lost
    for (const [why, count] of Object.entries(one.refused)) all.refused[why] = (all.refused[why] ?? 0) + count
  }
  return all
}

test('no write is over a version that its process has not read, and each reason to hold a call back is met', async () => {
  const { applied, refused, lost } = await playAll(400)
  expect(lost).toBe(0)
  expect(applied).toBeGreaterThan(5_000)
  expect(Object.keys(refused)).toEqual(
    expect.arrayContaining(['document-locked', 'document-not-locked', 'document-lock-old', 'the connection was closed']),
  )
})

test.each([
  ['without a lock', { withoutLock: true }],
  ['where a call leaves whenever it comes to it', { deafToLiveness: true }],
  ['where the Lease is given back after a lost answer', { lostIsUnsent: true }],
] as const)('%s, changes are lost', async (_, variant) => {
  const { lost } = await playAll(100, variant)
  expect(lost).toBeGreaterThan(0)
})
