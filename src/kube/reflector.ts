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
  /** Collection path without a query, for example `/api/v1/namespaces/default/pods`. */
  path: string
  labelSelector?: string
  fieldSelector?: string
  /** What another has told before: the first list is the next one then, says which of these are gone, and is tried until it is had. */
  known?: readonly R[]
  /** Checks and trims one raw object; throws where it is malformed. */
  decode: (raw: unknown) => R
  onEvent: (event: ReflectorEvent<R>) => void
  /**
   * Every error. `lasting`: the first list cannot be had, which ends the reflector, or the server has refused (401, 403, 404) for
   * `REFUSED_UNTIL_LASTING_MS`: told once a row of refusals, and the reflector goes on trying.
   */
  onError: (error: Error, lasting: boolean) => void
  /** What `isCurrent` or `isBroken` says has changed. */
  onCurrent?: (isCurrent: boolean) => void
  /** Somebody waits for a change. A silent watch is then compared with a list, now and then. */
  isAwaited?: () => boolean
}

/**
 * Lists once, then watches with bookmarks; resumes, or relists with a diff by UID, after whatever happens. Lists stand in for a
 * watch that does not deliver what they tell.
 */
export interface Reflector<R extends ObjectRecord> {
  /** Resolves once the first list is in; rejects where it cannot be had. Call once. */
  start(): Promise<void>
  /** The newest known version of every object, by uid. */
  records(): ReadonlyMap<string, R>
  /**
   * Takes in an object from elsewhere (the answer of a PATCH or a GET) unless a newer version is known;
   * gives what is now known. It makes no event: the watch will tell that version, or a newer one.
   */
  observe(raw: unknown): R
  /** The same for a look that was meant to tell what the watch has not: with the event, where the version is news. */
  announce(raw: unknown): R
  /** The watch has brought a line just now, whatever it was of: what it has not told yet it will tell soon. */
  isHeard(): boolean
  /** Observes the objects of one name anew, by a list of these alone, beside the watch. Rejects with a KubeError. */
  look(name: string): Promise<void>
  /**
   * The records are those of now, but for what a watch lags. Not where it broke: then they are what was so before, until
   * a list is in, or a watch has gone on for a moment.
   */
  isCurrent(): boolean
  /** It is not current since a list or a watch failed. */
  isBroken(): boolean
  /**
   * Observes all anew: by a list, or by a watch that has gone on for a moment where lists are put off. Callers that ask before the list
   * begins share it. Resolves once that is in; where it is not to be had, as the refusal is lasting or the reflector has ended, it
   * resolves too, and `isBroken` says so. What was current stays so meanwhile.
   */
  refresh(): Promise<void>
  stop(): Promise<void>
}

/** The server closes each watch after a time between these, so that many watches do not come back at once. */
const SHORTEST_WATCH_S = 240
const LONGEST_WATCH_S = 480
/**
 * A quiet watch still gets a bookmark about every minute, so one and a half of that without a line is a connection
 * that died silently. Too early costs one reconnect, which resumes without a gap: an API server sends none of a collection in
 * which nothing has happened since it was started.
 */
const SILENCE_LIMIT_MS = 90_000
/** A server begins to answer a watch at once, whatever there is to tell: what takes longer has not reached it. */
const OPENED_WITHIN_MS = 10_000
/** A watch that lived this long ends a row of failures. */
const HEALTHY_AFTER_MS = 5_000
/** A watch that the server closed sooner than this with nothing in it counts as a failure: no tight loop. */
const AT_ONCE_MS = 1_000
/**
 * A watch that goes on after a longer break tells one by one what happened meanwhile. Found by simulation: what is decided
 * in the middle of that rests on what is long past, and a list says it all at once.
 */
const RESUMED_WITHIN_MS = 2_000
/** A watch that has gone on for so long has told what happened in a shorter one. */
const CAUGHT_UP_AFTER_MS = 1_000
/** 401 and 403 also come from an API server that has just started: after the first list, only those that last are told as such. */
const REFUSED_UNTIL_LASTING_MS = 10_000

/**
 * A first list that fails for so long is given up: nothing rests on it yet, and whoever began it has to hear of it. Found by
 * reading: a plan waited without a word for an API server that had gone away right after it was asked for rights.
 */
const FIRST_LIST_WITHIN_MS = 60_000

const HELD =
  'the watch brings nothing of what lists show, as behind a proxy that buffers answers: lists stand in for it from now on, ' +
  'which is slower; turn buffering off for the API server in what is in between'

/** How a list or a watch ended, and where to go on: a version to watch from, or undefined for a list. */
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
  /** A stream that ended with an error of the server was resumed, and has brought nothing since. */
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
  /** When the watch brought its last line. */
  let heardAt = Number.NEGATIVE_INFINITY
  /** Comes to the silence of the watch that is under way sooner than it would. */
  let checkSoon = (): void => {}
  /** Since when nothing is heard. */
  let brokenAt: number | undefined
  /** Those who wait for the next list. */
  let refreshing: (() => void)[] = []
  let cutShort = (): void => {}
  /**
   * A busy API server puts off lists before all else. Found by a reviewer: it was asked for them for minutes, without a watch, and a pod
   * that was ready was rolled back. So a watch that goes on from where the last one was stands in for the list: it tells the same, if not
   * all at once.
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
      // There is nobody left to tell, and the stream must go on.
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
      // Lists stand in for it, and a proxy may hold its headers too.
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

    /** One that nobody answers says nothing, and what was known before is not of now. */
    function onOpen(): void {
      clock.clearTimeout(opening)
      // A quiet collection may have no line for minutes, in which the server is restarted once more.
      endRefusals()
      // That it is open says nothing of a watch that does not deliver: a list has made it current.
      if (ended === undefined && (!current || refreshing.length > 0) && !delivery.isPolling()) catchUp()
    }

    /** With what it has told by then, a watch that goes on is as good as a list for who has asked by now. */
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
      // One that stands in for a list will have told what has happened by now, too.
      if (!isPutOff) onStop()
    }

    /** One timer for the whole watch: a line only notes its time. */
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
      // A connection that died is another one with the next watch.
      if (judgement === 'miss') return end({ from: position })
      if (judgement === 'held') report(reflectorProblem(path, 'held', HELD), false)
      if (delivery.isLookDue(options.isAwaited?.() === true)) void look()
      checkLater()
    }

    /** Lists beside the silent watch. A line that comes meanwhile is the better answer. */
    async function look(): Promise<void> {
      const linesBefore = lines
      delivery.onLook()
      try {
        const listing = await listPages({ client, path, selectors, signal: attempt.signal, once: true })
        if (ended !== undefined) return
        if (lines > linesBefore) return delivery.onLooked('nothing')
        const changes = intake.takeListing(listing)
        advance(listing.version)
        delivery.onLooked(changes > 0 ? 'news' : 'nothing')
        checkLater()
      } catch (error) {
        if (ended !== undefined) return
        delivery.onLooked('error')
        // What stands in for the watch has failed: as if the watch had.
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
          // Which event it was cannot be known, so resuming after the next one would lose it.
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
          // Once more from the same version; if that also fails, what the server cannot send may be the event itself.
          const relist = expired || resumedAfterServerError
          resumedAfterServerError = !relist
          return end({ from: relist ? undefined : position, error })
        }
        case 'ADDED':
        case 'MODIFIED':
        case 'DELETED': {
          const error = intake.takeLine(line, advance)
          // Which event it was cannot be known, so resuming after the next one would lose it.
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
    /** A refused watch goes by the list, which tells a server that has just started from a missing permission. */
    let goesByList = false
    let listed = options.known !== undefined
    while (!stopping.signal.aborted) {
      const startedAt = clock.now()
      const isLong = brokenAt !== undefined && startedAt - brokenAt > RESUMED_WITHIN_MS
      const wantsList: boolean = refreshing.length > 0 || isLong || goesByList
      // A watch that does not deliver stands in for no list.
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
        // A caller that has asked while it was under way is told of the next one.
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
        // One that is away in between is started once more.
        endRefusals()
      }
      const isLasting = refusedSince !== undefined && clock.now() - refusedSince >= REFUSED_UNTIL_LASTING_MS
      report(error, isLasting && !isRefusalTold)
      isRefusalTold ||= isLasting
      if (isLasting) tellRefreshed(refreshing.splice(0))
      failures += 1
      // A gateway may ask for an hour, and be back in a minute: pods that are out of rotation cannot wait for it unseen.
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
        // Rejecting after the first list has resolved does nothing: from then on, errors go to onError.
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

/** The server is well, and busy. One with an error of its own may know no more in a watch: found by a reviewer, it had lost its etcd. */
function isThrottled(error: unknown): boolean {
  return error instanceof KubeError && error.status === 429
}

/** The server cannot make sense of the request, as of a selector that is none: asked again, it would say the same. */
function isSenseless(error: unknown): boolean {
  return error instanceof KubeError && (error.status === 400 || error.status === 422)
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}
