/**
 * A load balancer as pure state. Each call takes effect at the moment of the call, so the carrier of the calls decides when they arrive.
 * The level defines its guarantees (write.ts).
 */
import type { Clock } from '../../src/ports/clock.ts'
import type { Random } from '../../src/ports/random.ts'
import type { Admin, Entry, ServerOptions, Setting, TargetState } from './entry.ts'
import { change, configuredSetting, isRoutable, isSame, settingAt, stateOf } from './entry.ts'
import type { TrafficModel } from './requests.ts'
import { createRequests } from './requests.ts'
import type { Level, Write, WriteEntry, WriteResult } from './write.ts'
import { judge } from './write.ts'

export interface LoadBalancerOptions {
  name: string
  level: Level
  servers: readonly ServerOptions[]
  clock: Clock
  random: Random
  /** The most targets in one call. A call with more targets is refused. */
  batchMax?: number
  /** The greatest age of the answer to a read, in milliseconds. 0: a read always returns the present state. */
  staleMs?: number
  /** For G2, the time in milliseconds for which an operation ID is remembered. */
  memoryMs?: number
  /** False where the balancer does not know the number of requests under way. */
  countsRequests?: boolean
  /** True where a reload forgets the settings made at run time. */
  volatile?: boolean
  /** Makes writes jobs, done one after another. Each is done within this time in milliseconds after its arrival or after the job before. */
  jobMs?: number
  traffic?: TrafficModel
  /** Returns the milliseconds for which the balancer refuses calls. Undefined where it takes calls. */
  throttle?(): number | undefined
  /** Returns the fault of one entry of a write. `false-success`: the balancer reports success, and does nothing. */
  fault?(write: Write, entry: WriteEntry): 'busy' | 'forbidden' | 'false-success' | undefined
  /** Called after each write that arrived, and after each other change. */
  onChange?(change: BalancerChange): void
}

export type BalancerChange =
  | {
      type: 'effect'
      by: string
      balancer: string
      target: string
      effect: 'drain' | 'restore'
      operation: string
      fence: number
      /** The time when the bytes of the call left. */
      leftAt: number
      /** True where the write was taken. False where it was refused, or its operation ID was known. */
      accepted: boolean
      before: TargetState
      after: TargetState
    }
  | {
      type: 'target'
      /** `setup`: the entry exists from the beginning. */
      by: 'setup' | 'operator' | 'reload'
      balancer: string
      target: string
      /** The state before. Null where the entry did not exist. */
      before: TargetState | null
      after: TargetState | null
    }

export interface Throttled {
  throttledMs: number
}

/** One entry as a read shows it. */
export interface Reading extends Setting {
  routable: boolean
  /** The number of requests under way. Null where the balancer does not count them. */
  inFlight: number | null
  version: number
}

export interface LoadBalancer {
  readonly name: string
  readonly level: Level
  readonly options: Readonly<LoadBalancerOptions>
  /** Returns the configured entries, among which a caller finds its targets. */
  list(): { name: string; address: string; port: number }[] | Throttled
  /** Returns the readings of these entries. Missing entries are left out. */
  read(names: readonly string[]): { entries: Map<string, Reading> } | Throttled
  write(write: Write): Map<string, WriteResult> | Throttled
  /** Returns the result of a job: `pending` while it waits. */
  poll(job: string): Map<string, WriteResult> | Throttled
  /** Returns the real present state, without staleness. */
  state(name: string): TargetState | undefined
  names(): string[]
  /** The actions of an operator. */
  operator: {
    set(name: string, to: { admin?: Admin; weight?: number; address?: string; port?: number }): void
    add(server: ServerOptions): void
    remove(name: string): void
  }
  /** Reloads or restarts the balancer. The old process finishes the requests under way. */
  reload(): void
  /** Routes a real request for a generator of traffic. The routable entries take turns. */
  route(): { name: string; end(): void } | undefined
}

export function createLoadBalancer(options: LoadBalancerOptions): LoadBalancer {
  const { name: balancer, level, clock, random, staleMs = 0, memoryMs = Infinity, jobMs } = options
  const entries = new Map<string, Entry>()
  /** The time and the result of each operation, by operation ID and kind. */
  const done = new Map<string, { at: number; result: WriteResult }>()
  const jobs = new Map<string, Map<string, WriteResult>>()
  let jobDueAt = 0
  let versions = 0
  let turn = 0

  function add(server: ServerOptions): Entry {
    const setting = configuredSetting(server)
    const requests = createRequests(options.traffic, random)
    const entry: Entry = { ...setting, name: server.name, configured: server, version: 0, fence: 0, requests, past: [] }
    change(entry, setting, clock.now(), ++versions, staleMs)
    entries.set(server.name, entry)
    return entry
  }

  function set(entry: Entry, setting: Setting): { before: TargetState; after: TargetState } {
    const at = clock.now()
    const before = stateOf(entry, at)
    if (isSame(entry, setting)) return { before, after: before }
    change(entry, setting, at, ++versions, staleMs)
    return { before, after: stateOf(entry, at) }
  }

  function tell(
    by: 'setup' | 'operator' | 'reload',
    target: string,
    before: TargetState | null,
    after: TargetState | null,
  ): void {
    options.onChange?.({ type: 'target', by, balancer, target, before, after })
  }
  for (const server of options.servers) tell('setup', server.name, null, stateOf(add(server), clock.now()))

  function apply(write: Write, wanted: WriteEntry): WriteResult {
    const entry = entries.get(wanted.name)
    const { by, kind: effect, fence, leftAt } = write
    const { operation } = wanted
    function told(result: WriteResult, accepted: boolean, setting?: Setting): WriteResult {
      if (entry === undefined) return result
      const states = set(entry, setting ?? entry)
      const { name: target } = entry
      options.onChange?.({ type: 'effect', by, balancer, target, effect, operation, fence, leftAt, accepted, ...states })
      return result
    }

    const key = `${effect} ${operation}`
    const known = done.get(key)
    if (known && clock.now() - known.at <= memoryMs) return told(known.result, false)
    /** Also remembers a false success. Otherwise the balancer would offer no more than G1. */
    function remember(result: WriteResult): WriteResult {
      if (level === 'G2') done.set(key, { at: clock.now(), result })
      return result
    }
    const fault = options.fault?.(write, wanted)
    if (fault === 'false-success') return told(remember({ outcome: 'applied' }), false)
    if (fault !== undefined) return told({ outcome: 'refused', why: fault, message: `${wanted.name}: ${fault}` }, false)
    const verdict = judge(level, write, entry, wanted)
    if (entry === undefined || !('setting' in verdict))
      return told({ outcome: 'refused', ...(verdict as Exclude<typeof verdict, { setting: Setting }>) }, false)
    entry.fence = Math.max(entry.fence, fence)
    entry.version = ++versions
    return told(remember({ outcome: 'applied' }), true, verdict.setting)
  }

  /** Records a throttled write as not accepted, so that a second delivery of the call does not count as the first. */
  function turnAway({ by, kind: effect, fence, leftAt, entries: wanted }: Write): void {
    for (const { name: target, operation } of wanted) {
      const entry = entries.get(target)
      if (entry === undefined) continue
      const state = stateOf(entry, clock.now())
      const states = { before: state, after: state }
      options.onChange?.({ type: 'effect', by, balancer, target, effect, operation, fence, leftAt, accepted: false, ...states })
    }
  }

  function enqueue(write: Write): Map<string, WriteResult> {
    const job = `job-${jobs.size + 1}`
    const pending: WriteResult = { outcome: 'pending', job }
    jobs.set(job, new Map(write.entries.map(({ name }) => [name, pending])))
    jobDueAt = Math.max(jobDueAt, clock.now()) + random.next() * jobMs!
    clock.setTimeout(
      () => jobs.set(job, new Map(write.entries.map((wanted) => [wanted.name, apply(write, wanted)]))),
      jobDueAt - clock.now(),
    )
    return jobs.get(job)!
  }

  function answer<T>(reply: () => T, onThrottled?: () => void): T | Throttled {
    const throttledMs = options.throttle?.()
    if (throttledMs === undefined) return reply()
    onThrottled?.()
    return { throttledMs }
  }

  return {
    name: balancer,
    level,
    options,
    list: () => answer(() => [...entries.values()].map(({ name, address, port }) => ({ name, address, port }))),
    read(names) {
      if (level === 'G0') throw new Error(`${balancer} cannot be read`)
      return answer(() => {
        // One replica answers for all entries, so all of them have one age.
        const at = staleMs === 0 ? clock.now() : clock.now() - random.next() * staleMs
        const read = new Map<string, Reading>()
        for (const name of names) {
          const entry = entries.get(name)
          if (entry === undefined) continue
          const setting = settingAt(entry, at)
          const inFlight = options.countsRequests === false ? null : entry.requests.inFlight(at)
          read.set(name, { ...setting, routable: isRoutable(setting), inFlight, version: entry.version })
        }
        return { entries: read }
      })
    },
    write: (write) =>
      answer(
        () => {
          if (write.entries.length > (options.batchMax ?? Infinity)) throw new Error(`${balancer} takes no more than its batch`)
          return jobMs === undefined ? new Map(write.entries.map((one) => [one.name, apply(write, one)])) : enqueue(write)
        },
        () => turnAway(write),
      ),
    poll: (job) => answer(() => jobs.get(job) ?? new Map()),
    state(name) {
      const entry = entries.get(name)
      return entry && stateOf(entry, clock.now())
    },
    names: () => [...entries.keys()],
    operator: {
      set(name, to) {
        const entry = entries.get(name)
        if (entry === undefined) return
        const { address, port, admin, weight } = entry
        const { before, after } = set(entry, { address, port, admin, weight, ...to })
        if (before !== after) tell('operator', name, before, after)
      },
      add: (server) => tell('operator', server.name, null, stateOf(add(server), clock.now())),
      remove(name) {
        const entry = entries.get(name)
        if (entry === undefined) return
        entries.delete(name)
        tell('operator', name, stateOf(entry, clock.now()), null)
      },
    },
    reload() {
      if (options.volatile !== true) return
      done.clear()
      for (const entry of entries.values()) {
        const { before, after } = set(entry, configuredSetting(entry.configured))
        if (before !== after) tell('reload', entry.name, before, after)
      }
    },
    route() {
      const candidates = [...entries.values()].filter(isRoutable)
      const entry = candidates[turn++ % candidates.length]
      return entry && { name: entry.name, end: entry.requests.begin() }
    },
  }
}
