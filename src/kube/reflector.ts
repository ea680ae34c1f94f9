import type { Clock } from '../ports/clock.ts'
import type { Random } from '../ports/random.ts'
import type { KubeClient } from './client.ts'
import { createDelivery } from './delivery.ts'
import { KubeError } from './errors.ts'
import { listPages } from './list-pages.ts'
import { createObjectIntake } from './object-intake.ts'
import type { ObjectRecord, ReflectorEvent } from './object-record.ts'
import { backoffMs, pause } from './pause.ts'
import { withQuery } from './query.ts'
import { reflectorProblem } from './reflector-error.ts'
import { isNewerVersion } from './resource-version.ts'
import { parseWatchLine } from './watch-line.ts'

export type { ObjectRecord, ReflectorEvent } from './object-record.ts'
export { ReflectorError } from './reflector-error.ts'

export interface ReflectorOptions<R extends ObjectRecord> {
  client: KubeClient
  clock: Clock
  random: Random
  /** Path of the collection without a query, for example `/api/v1/namespaces/default/pods`. */
  path: string
  labelSelector?: string
  fieldSelector?: string
  /**
   * Objects that another reflector has reported. The first list then counts as a relist: it reports their deletion, and is retried until it
   * succeeds.
   */
  known?: readonly R[]
  /** Checks and trims one raw object; throws if it is malformed. */
  decode: (raw: unknown) => R
  onEvent: (event: ReflectorEvent<R>) => void
  /**
   * Called with every error. `lasting`: the first list failed, which ends the reflector; or the server has refused (401, 403, 404) for
   * `REFUSED_UNTIL_LASTING_MS`, which is reported once, while the reflector keeps trying.
   */
  onError: (error: Error, lasting: boolean) => void
  /** Called when `isCurrent` or `isBroken` changes. */
  onCurrent?: (isCurrent: boolean) => void
  /** True while a caller waits for a change. A silent watch is then compared with a list from time to time. */
  isAwaited?: () => boolean
}

/**
 * Lists once, and then watches with bookmarks. After any failure it resumes, or relists with a diff by uid. Lists replace a watch that does
 * not deliver their news.
 */
export interface Reflector<R extends ObjectRecord> {
  /** Resolves after the first list; rejects if the list fails. Call once. */
  start(): Promise<void>
  /** The newest known version of every object, by uid. */
  records(): ReadonlyMap<string, R>
  /**
   * Applies an object from elsewhere (the answer to a PATCH or a GET), unless a newer version is known; returns the newest known version.
   * No event is created, because the watch will deliver that version or a newer one.
   */
  observe(raw: unknown): R
  /** Applies an object as `observe` does, with an event if the version is new. For reads that check on a silent watch. */
  announce(raw: unknown): R
  /** True if the watch has just delivered a line of any object, and so is expected to deliver later changes soon. */
  isHeard(): boolean
  /** Reads the objects of one name anew by a separate list, beside the watch. Rejects with a KubeError. */
  look(name: string): Promise<void>
  /**
   * True if the records are current, apart from the lag of a watch. False after a break, until a list is complete, or a watch has been
   * running for a moment.
   */
  isCurrent(): boolean
  /** True if the records are not current because a list or a watch failed. */
  isBroken(): boolean
  /**
   * Reads everything anew: by a list, or by a watch that has been running for a moment if lists are throttled. Callers before the begin of
   * the list share it. Resolves on success, on a lasting refusal and after the end of the reflector; `isBroken` tells these apart. Current
   * records stay current meanwhile.
   */
  refresh(): Promise<void>
  stop(): Promise<void>
}

/** The server closes each watch after a random time between these two, so that many watches do not reconnect at once. */
const SHORTEST_WATCH_S = 240
const LONGEST_WATCH_S = 480
/**
 * A quiet watch gets a bookmark about every minute, so 90 s without a line mean a dead connection. A wrong guess costs one reconnect, which
 * resumes without a gap: an API server sends no bookmarks for a collection that has not changed since the server started.
 */
const SILENCE_LIMIT_MS = 90_000
/** A server begins to answer a watch at once, even without news. A slower answer means that the request has not reached the server. */
const OPENED_WITHIN_MS = 10_000
/** A watch that lived this long ends a series of failures. */
const HEALTHY_AFTER_MS = 5_000
/** A watch that the server closed sooner than this without content counts as a failure, so that there is no tight loop. */
const AT_ONCE_MS = 1_000
/**
 * After a longer break, a resumed watch delivers the missed events one by one, and decisions in between would use outdated state. A list
 * delivers everything at once.
 */
const RESUMED_WITHIN_MS = 2_000
/** After a shorter break, a watch that has been running for this time has delivered the missed events. */
const CAUGHT_UP_AFTER_MS = 1_000
/** A starting API server answers 401 and 403 too, so after the first list only refusals that last this long are reported as lasting. */
const REFUSED_UNTIL_LASTING_MS = 10_000

/** The time limit of the first list. No decision depends on the list yet, and the caller that began it must learn of the failure. */
const FIRST_LIST_WITHIN_MS = 60_000

const HELD =
  'the watch brings nothing of what lists show, as behind a proxy that buffers answers: lists stand in for it from now on, ' +
  'which is slower; turn buffering off for the API server in what is in between'

/** The end of a list or a watch. `from` is the version to watch from, or undefined for a list. */
interface Outcome {
  from: string | undefined
  error?: Error
}

export function createReflector<R extends ObjectRecord>(options: ReflectorOptions<R>): Reflector<R> {
  const { client, clock, random, path } = options
  const selectors = { labelSelector: options.labelSelector, fieldSelector: options.fieldSelector }
  const stopping = new AbortController()
  let running: Promise<void> | undefined
  let refusedSince: number | undefined
  let isRefusalTold = false
  /** True if a stream that ended with a server error was resumed, and has delivered nothing since. */
  let resumedAfterServerError = false
  let current = false
  let broken = false
  const delivery = createDelivery(clock)
  const intake = createObjectIntake<R>({
    path,
    decode: options.decode,
    known: options.known ?? [],
    delivery,
    onEvent: emit,
    onProblem: (error) => report(error, false),
    onAnswer: () => checkSoon(),
  })
  /** The time of the last line of the watch. */
  let heardAt = Number.NEGATIVE_INFINITY
  /** Checks the silence of the running watch sooner than scheduled. */
  let checkSoon = (): void => {}
  /** The time since when nothing is heard. */
  let brokenAt: number | undefined
  /** The callers that wait for the next list. */
  let refreshing: (() => void)[] = []
  let cutShort = (): void => {}
  /**
   * True while lists are throttled. A busy API server throttles lists first. A watch that resumes from the last version replaces the list
   * then: it delivers the same changes, though not at once.
   */
  let isPutOff = false
  let listAgainAt = Number.NEGATIVE_INFINITY
  let failures = 0
  let hasEnded = false

  function setCurrent(now: boolean): void {
    if (now) brokenAt = undefined
    else brokenAt ??= clock.now()
    if (now) broken = false
    if (now === current) return
    current = now
    options.onCurrent?.(now)
  }

  function setBroken(): void {
    const hasChanged = !broken && !current
    broken = true
    setCurrent(false)
    if (hasChanged && !current) options.onCurrent?.(false)
  }

  function endRefusals(): void {
    refusedSince = undefined
    isRefusalTold = false
  }

  function tellRefreshed(waiting: (() => void)[]): void {
    for (const resolve of waiting) resolve()
  }

  async function lookAt(name: string): Promise<void> {
    const named = { ...selectors, fieldSelector: `metadata.name=${name}` }
    const listing = await listPages({ client, path, selectors: named, signal: stopping.signal, once: true })
    intake.takeListing(listing, name)
  }

  function report(error: Error, lasting: boolean): void {
    try {
      options.onError(error, lasting)
    } catch {
      // An exception of the error handler has no recipient, and the stream must go on.
    }
  }

  function emit(event: ReflectorEvent<R>): void {
    if (stopping.signal.aborted) return
    try {
      options.onEvent(event)
    } catch (error) {
      report(
        reflectorProblem(path, 'handler', `the handler of ${event.type} ${event.record.name} failed`, { cause: error }),
        false,
      )
    }
  }

  async function list(once: boolean): Promise<Outcome> {
    try {
      const listing = await listPages({ client, path, selectors, signal: stopping.signal, once })
      intake.takeListing(listing)
      return { from: listing.version }
    } catch (error) {
      return { from: undefined, error: asError(error) }
    }
  }

  async function watch(from: string): Promise<Outcome> {
    const startedAt = clock.now()
    const attempt = new AbortController()
    let position = from
    let lines = 0
    delivery.begin()
    let ended: Outcome | undefined
    let watchdog: unknown
    let catchingUp: unknown
    const opening = clock.setTimeout(() => {
      // Lists replace the watch, and a proxy may hold back its headers too.
      if (!delivery.isPolling())
        end({
          from: position,
          error: reflectorProblem(path, 'silent', `no answer to the watch for ${OPENED_WITHIN_MS / 1000} s`),
        })
    }, OPENED_WITHIN_MS)

    function end(outcome: Outcome): void {
      ended ??= outcome
      attempt.abort()
    }

    /** The watch counts only from its answer on, because without an answer the known state may be outdated. */
    function onOpen(): void {
      clock.clearTimeout(opening)
      // A quiet collection may have no line for minutes, and the server may restart again in that time.
      endRefusals()
      // An open watch that does not deliver proves nothing; a list makes the records current.
      if (ended === undefined && (!current || refreshing.length > 0) && !delivery.isPolling()) catchUp()
    }

    /** A watch that has been running for a moment is as good as a list for the callers that have asked by now. */
    function catchUp(): void {
      const asked = refreshing.length
      catchingUp ??= clock.setTimeout(() => {
        catchingUp = undefined
        const waiting = refreshing.splice(0, asked)
        if (refreshing.length > 0) {
          catchUp()
        } else {
          if (isPutOff) failures = 0
          isPutOff = false
        }
        setCurrent(true)
        tellRefreshed(waiting)
      }, CAUGHT_UP_AFTER_MS)
    }

    const onStop = () => end({ from: position })
    cutShort = () => {
      // A watch that replaces a list is not ended, because it is about to deliver the missed changes.
      if (!isPutOff) onStop()
    }

    /** One timer serves the whole watch; a line only notes its time. */
    function checkLater(): void {
      clock.clearTimeout(watchdog)
      const leftMs = delivery.lastLineAt() + SILENCE_LIMIT_MS - clock.now()
      watchdog = clock.setTimeout(checkSilence, Math.max(0, Math.min(leftMs, delivery.nextMs())))
    }

    function checkSilence(): void {
      const leftMs = delivery.lastLineAt() + SILENCE_LIMIT_MS - clock.now()
      if (leftMs <= 0) {
        const error = reflectorProblem(path, 'quiet', `no line of the watch for ${SILENCE_LIMIT_MS / 1000} s`)
        return end(delivery.isPolling() ? { from: position } : { from: position, error })
      }
      const judgement = delivery.judge()
      // The next watch gets a new connection, which solves the case of a dead one.
      if (judgement === 'miss') return end({ from: position })
      if (judgement === 'held') report(reflectorProblem(path, 'held', HELD), false)
      if (delivery.isLookDue(options.isAwaited?.() === true)) void look()
      checkLater()
    }

    /** Lists beside the silent watch. A line that arrives meanwhile has precedence. */
    async function look(): Promise<void> {
      const linesBefore = lines
      delivery.onLook()
      try {
        const listing = await listPages({ client, path, selectors, signal: attempt.signal, once: true })
        if (ended !== undefined) return
        if (lines > linesBefore) return delivery.onLooked('nothing')
        const { changes, hasGoneBack } = intake.takeListing(listing)
        // The server keeps back all versions up to the one that this watch began from.
        if (hasGoneBack) return end({ from: listing.version })
        advance(listing.version)
        delivery.onLooked(changes > 0 ? 'news' : 'nothing')
        checkLater()
      } catch (error) {
        if (ended !== undefined) return
        delivery.onLooked('error')
        // The list that replaces the watch has failed, which counts as a failure of the watch.
        if (delivery.isPolling() && !isThrottled(error)) end({ from: position, error: asError(error) })
      }
    }

    function advance(version: string): void {
      if (isNewerVersion(version, position)) position = version
      intake.see(version)
      resumedAfterServerError = false
      endRefusals()
    }

    function takeLine(text: string): void {
      if (ended !== undefined) return
      heardAt = clock.now()
      lines += 1
      delivery.onLine(false)
      const line = parseWatchLine(text)
      switch (line.type) {
        case 'malformed':
          // The lost event is not known, so resuming after the next event would lose it.
          return end({ from: undefined, error: reflectorProblem(path, 'malformed', line.why) })
        case 'BOOKMARK':
          return advance(line.version)
        case 'ERROR': {
          const expired = line.code === 410
          const error = reflectorProblem(
            path,
            expired ? 'expired' : 'server',
            `the server ended the watch: ${line.code ?? ''} ${line.message}`,
          )
          // Resumes once more from the same version. If that fails too, the event itself may be the cause, and a list skips it.
          const relist = expired || resumedAfterServerError
          resumedAfterServerError = !relist
          return end({ from: relist ? undefined : position, error })
        }
        case 'ADDED':
        case 'MODIFIED':
        case 'DELETED': {
          const error = intake.takeLine(line, advance)
          // The lost event is not known, so resuming after the next event would lose it.
          return error && end({ from: undefined, error })
        }
      }
    }

    checkLater()
    checkSoon = checkLater
    stopping.signal.addEventListener('abort', onStop)
    try {
      const timeoutSeconds = Math.floor(SHORTEST_WATCH_S + random.next() * (LONGEST_WATCH_S - SHORTEST_WATCH_S))
      const query = {
        ...selectors,
        watch: 'true',
        allowWatchBookmarks: 'true',
        resourceVersion: from,
        timeoutSeconds: String(timeoutSeconds),
      }
      await client.watch(withQuery(path, query), { signal: attempt.signal, onLine: takeLine, onOpen })
      const atOnce = lines === 0 && clock.now() - startedAt < AT_ONCE_MS
      ended ??= atOnce
        ? { from: position, error: reflectorProblem(path, 'closed', 'the server closed the watch at once') }
        : { from: position }
    } catch (error) {
      const isExpired = error instanceof KubeError && error.status === 410
      ended ??= { from: isExpired ? undefined : position, error: asError(error) }
    } finally {
      clock.clearTimeout(watchdog)
      clock.clearTimeout(opening)
      clock.clearTimeout(catchingUp)
      cutShort = () => {}
      checkSoon = () => {}
      stopping.signal.removeEventListener('abort', onStop)
    }
    return ended
  }

  async function run(onListed: () => void): Promise<Error> {
    const begunAt = clock.now()
    let position: string | undefined
    /** After a refused watch the list decides, because it tells a starting server from a missing permission. */
    let goesByList = false
    let listed = options.known !== undefined
    while (!stopping.signal.aborted) {
      const startedAt = clock.now()
      const isLong = brokenAt !== undefined && startedAt - brokenAt > RESUMED_WITHIN_MS
      const wantsList: boolean = refreshing.length > 0 || isLong || goesByList
      // A watch that does not deliver does not replace a list.
      const isHeld = delivery.isPolling()
      isPutOff = !isHeld && (isPutOff || (wantsList && !goesByList && startedAt < listAgainAt))
      const isList: boolean = position === undefined || (wantsList && !isPutOff) || (isHeld && !current)
      const waiting = isList ? refreshing.splice(0) : []
      const outcome: Outcome = isList ? await list(position !== undefined) : await watch(position!)
      if (stopping.signal.aborted || outcome.error !== undefined) refreshing.push(...waiting)
      if (stopping.signal.aborted) break
      if (outcome.error !== undefined) setBroken()
      if (isList && outcome.error === undefined) {
        listed = true
        setCurrent(true)
        // A caller that asked during the list gets the next list.
        tellRefreshed(waiting)
        onListed()
      } else if (clock.now() - startedAt >= HEALTHY_AFTER_MS) {
        failures = 0
      }
      if (!isList || outcome.error === undefined) position = outcome.from
      const { error } = outcome
      goesByList = isRefusal(error) || (goesByList && isList && error !== undefined)
      if (error === undefined) {
        isPutOff = false
        continue
      }
      if (!listed && (isSenseless(error) || clock.now() - begunAt >= FIRST_LIST_WITHIN_MS)) {
        report(error, true)
        return error
      }
      if (isRefusal(error)) {
        if (!listed) {
          report(error, true)
          return error
        }
        refusedSince ??= clock.now()
      } else {
        // A server that is unreachable in between has restarted.
        endRefusals()
      }
      const isLasting = refusedSince !== undefined && clock.now() - refusedSince >= REFUSED_UNTIL_LASTING_MS
      report(error, isLasting && !isRefusalTold)
      isRefusalTold ||= isLasting
      if (isLasting) tellRefreshed(refreshing.splice(0))
      failures += 1
      // A gateway may request a wait of an hour and be back in a minute. The wait is limited, because pods that are out of rotation must
      // stay observed.
      const askedMs = error instanceof KubeError ? Math.min(error.retryAfterMs ?? 0, SILENCE_LIMIT_MS) : 0
      isPutOff = isList && position !== undefined && !goesByList && isThrottled(error)
      if (isPutOff) listAgainAt = clock.now() + askedMs
      await pause(clock, Math.max(backoffMs(random, failures), isPutOff ? 0 : askedMs), stopping.signal)
    }
    return reflectorProblem(path, 'stopped', 'stopped before the first list')
  }

  return {
    start() {
      if (running !== undefined) throw reflectorProblem(path, 'internal', 'started twice')
      return new Promise((resolve, reject) => {
        // A rejection after the first list has no effect; from then on `onError` gets the errors.
        running = run(resolve)
          .then(reject, (error: unknown) => {
            report(reflectorProblem(path, 'internal', 'the reflector failed', { cause: error }), true)
            reject(asError(error))
          })
          .finally(() => {
            hasEnded = true
            tellRefreshed(refreshing.splice(0))
          })
      })
    },
    records: intake.records,
    observe: intake.observe,
    announce: intake.announce,
    isHeard: () => clock.now() - heardAt <= RESUMED_WITHIN_MS,
    look: lookAt,
    isCurrent: () => current,
    isBroken: () => broken,
    refresh() {
      if (hasEnded) return Promise.resolve()
      return new Promise((resolve) => {
        refreshing.push(resolve)
        cutShort()
      })
    },
    async stop() {
      stopping.abort()
      await running
    },
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof KubeError && (error.status === 401 || error.status === 403 || error.status === 404)
}

/** True if the server is healthy but busy. A server error does not count: such a server may have lost its etcd, and its watches may lag. */
function isThrottled(error: unknown): boolean {
  return error instanceof KubeError && error.status === 429
}

/** True if the server rejects the request as invalid, for example because of a bad selector. A retry would fail too. */
function isSenseless(error: unknown): boolean {
  return error instanceof KubeError && (error.status === 400 || error.status === 422)
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}
