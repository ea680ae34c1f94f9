import type { KubeClient } from '../kube/client.ts'
import { KubeError } from '../kube/errors.ts'
import { pause } from '../kube/pause.ts'
import { createReflector, type ObjectRecord, type Reflector, ReflectorError, type ReflectorEvent } from '../kube/reflector.ts'
import type { Clock } from '../ports/clock.ts'
import type { Random } from '../ports/random.ts'

/**
 * - `listing`: the first list is under way.
 * - `current`: the records are current, apart from the lag of a watch.
 * - `broken`: the API server does not answer. The records are those of before.
 * - `refused`: this user may not list or watch the kind. The records are those of before.
 * - `absent`: the API server has no such kind. The records are those of before.
 */
export type CollectionState = { is: 'listing' | 'current' } | { is: 'broken' | 'refused' | 'absent'; because: Error }

export interface CollectionOptions<R extends ObjectRecord> {
  client: KubeClient
  clock: Clock
  random: Random
  /** Path of the collection without a query, for example `/api/v1/namespaces/default/pods`. */
  path: string
  labelSelector?: string
  fieldSelector?: string
  /** Checks and trims one raw object; throws if it is malformed. */
  decode: (raw: unknown) => R
  /** Called with each change. After a restart of the watch, an object that is known already may be told as added again. */
  onEvent(event: ReflectorEvent<R>): void
  /** Called with each new state. */
  onState?(state: CollectionState): void
  /** Called at once when the records cease to be current, or are current again. A break becomes a state only where it lasts. */
  onCurrent?(isCurrent: boolean): void
  /** Called with each failure, and with each object that cannot be read. For logs. */
  onError?(error: Error): void
  /** True while a caller waits for a change. A silent watch is then compared with a list from time to time. */
  isAwaited?(): boolean
  signal: AbortSignal
}

/** The objects of one kind in one scope, for a server that runs for months: it lists and watches until the signal, and never gives up. */
export interface Collection<R extends ObjectRecord> {
  /** The newest known version of every object, by uid. */
  records(): ReadonlyMap<string, R>
  state(): CollectionState
  /** True if the records are current. False from the moment of a break. */
  isCurrent(): boolean
  /** True from the moment at which a list or a watch fails, other than by a refusal. */
  isBroken(): boolean
  /** Applies the answer to a write, without an event, unless a newer version is known; returns the newest known version. */
  observe(raw: unknown): R
  /** Lists anew. Resolves once the list has succeeded or failed, which `isBroken` tells; current records stay current meanwhile. */
  refresh(): Promise<void>
  /** Resolves once the kind is listed, refused or absent; also by the signal. */
  settled: Promise<void>
  /** Resolves after the signal, once the watch has ended. */
  ended: Promise<void>
}

/** The time after which a list that failed is tried again. */
const AGAIN_AFTER_MS = 5_000
/** The time after which a kind that may not be read is tried again: an operator may give the right meanwhile. */
const REFUSED_AGAIN_AFTER_MS = 30_000
/** A kind that is not there is looked for less and less often: its API is seldom turned on while a cluster runs. */
const ABSENT_AGAIN_WITHIN_MS = 300_000
/** A watch that breaks and comes back within this time changes no state. */
const BROKEN_AFTER_MS = 5_000

export function openCollection<R extends ObjectRecord>(options: CollectionOptions<R>): Collection<R> {
  const { client, clock, random, path, decode, signal } = options
  const settled = Promise.withResolvers<void>()
  signal.addEventListener('abort', () => settled.resolve())
  if (signal.aborted) settled.resolve()
  let state: CollectionState = { is: 'listing' }
  let reflector: Reflector<R> | undefined
  /** The records of the reflectors before. A later list tells of their deletion. */
  let known: ReadonlyMap<string, R> = new Map()
  let isListed = false
  /** The number of consecutive lists that found no such kind. */
  let absences = 0

  function enter(next: CollectionState): void {
    const isNew = state.is !== next.is
    state = next
    if (isNew && !signal.aborted) options.onState?.(next)
  }

  function refuse(error: KubeError): void {
    enter({ is: error.status === 404 ? 'absent' : 'refused', because: error })
    settled.resolve()
  }

  /** Lists and watches with one reflector. Resolves with the pause before the next one. Does not reject. */
  async function watch(): Promise<number> {
    let checking: unknown
    const over = Promise.withResolvers<void>()
    const onAbort = (): void => over.resolve()
    const current = createReflector<R>({
      client,
      clock,
      random,
      path,
      ...(options.labelSelector === undefined ? {} : { labelSelector: options.labelSelector }),
      ...(options.fieldSelector === undefined ? {} : { fieldSelector: options.fieldSelector }),
      ...(isListed ? { known: [...known.values()] } : {}),
      decode,
      onEvent: (event) => options.onEvent(event),
      isAwaited: () => options.isAwaited?.() === true,
      onError(error, isLasting) {
        options.onError?.(error)
        if (isEnd(error)) return over.resolve()
        if (isRefusal(error)) {
          // A refusal before the first list makes `start` reject. A starting API server refuses requests for a moment.
          if (isListed && isLasting) refuse(error)
          return
        }
        if (!isListed) return isUnanswered(error) ? enter({ is: 'broken', because: error }) : undefined
        // The time counts from the first error in a row. A watch that comes back in between clears it.
        checking ??= clock.setTimeout(() => {
          checking = undefined
          if (current.isBroken()) enter({ is: 'broken', because: error })
        }, BROKEN_AFTER_MS)
      },
      onCurrent(isCurrent) {
        if (isCurrent) {
          clock.clearTimeout(checking)
          checking = undefined
          isListed = true
          absences = 0
          enter({ is: 'current' })
        }
        options.onCurrent?.(isCurrent)
      },
    })
    reflector = current
    signal.addEventListener('abort', onAbort)
    try {
      if (signal.aborted) return 0
      const started = current.start()
      // After the signal, the rejection of a list that was under way has no recipient.
      started.catch(() => {})
      await Promise.race([started, over.promise])
      if (isListed) settled.resolve()
      await over.promise
      return AGAIN_AFTER_MS
    } catch (error) {
      if (signal.aborted) return 0
      if (!isRefusal(error)) {
        enter({ is: 'broken', because: error as Error })
        return AGAIN_AFTER_MS
      }
      refuse(error)
      if (error.status !== 404) return REFUSED_AGAIN_AFTER_MS
      absences += 1
      return Math.min(ABSENT_AGAIN_WITHIN_MS, REFUSED_AGAIN_AFTER_MS * 2 ** (absences - 1))
    } finally {
      signal.removeEventListener('abort', onAbort)
      clock.clearTimeout(checking)
      await current.stop()
      known = current.records()
    }
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      const againMs = await watch()
      await pause(clock, againMs, signal)
    }
  }

  const isRefused = (): boolean => state.is === 'refused' || state.is === 'absent'
  const ended = run()
  return {
    records: () => reflector?.records() ?? known,
    state: () => state,
    isCurrent: () => reflector?.isCurrent() === true,
    isBroken: () => !isRefused() && (state.is === 'broken' || reflector?.isBroken() === true),
    observe: (raw) => (reflector === undefined ? decode(raw) : reflector.observe(raw)),
    refresh: async () => reflector?.refresh(),
    settled: settled.promise,
    ended,
  }
}

function isRefusal(error: unknown): error is KubeError {
  return error instanceof KubeError && (error.status === 401 || error.status === 403 || error.status === 404)
}

/** An API server that is busy answers, and so does one with an object that cannot be read. */
function isUnanswered(error: unknown): boolean {
  if (error instanceof ReflectorError) return false
  return !(error instanceof KubeError) || error.status === undefined || error.status >= 500
}

/** The reflector has ended by a mistake of its own, and another one takes its place. */
function isEnd(error: unknown): boolean {
  return error instanceof ReflectorError && error.problem === 'internal'
}
