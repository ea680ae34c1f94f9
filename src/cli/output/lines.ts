import type { Writing } from '../../report/words/writing.ts'
import type { RunEvent } from '../../engine/events.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Colors } from './color.ts'
import { formatElapsed } from './elapsed.ts'
import { inert } from './inert.ts'
import { planOutline } from './plan-outline.ts'
import type { Renderer } from './renderer.ts'
import { activePods, applyEvent, emptyView, queuedPods, type RunView } from './run-view.ts'
import { detail, effect, interrupting, leaseWaiting, ordered, paused, started, warning } from '../../report/words/events.ts'
import { finishedPod } from './finished-pod.ts'
import { summary } from './summary.ts'

/** CI systems kill a job without output for minutes, and a silent run looks hung. */
const HEARTBEAT_MS = 30_000
/** Numbers such as requests in flight change several times a second. A log needs only some of them. */
const DETAIL_EVERY_MS = 10_000
const LEASE_EVERY_MS = 10_000

type Detail = Extract<RunEvent, { type: 'podDetail' }>

interface ToldDetail {
  state: string
  atMs: number
  /** The latest detail that came too soon, and the timer that will print it. */
  next?: Detail
  timer?: unknown
}

export interface LinesDeps {
  out: { write(text: string): void }
  err: { write(text: string): void }
  clock: Clock
  colors: Colors
  write: Writing
}

/** Prints one line for each event, for logs. No line is redrawn. */
export function createLines({ out, err, clock, colors, write }: LinesDeps): Renderer {
  const view = emptyView()
  const details = new Map<string, ToldDetail>()
  let leaseLineAtMs = Number.NEGATIVE_INFINITY
  let clockOffsetMs = clock.now()
  let heartbeat: unknown
  let closed = false

  function line(wallAt: string, text: string): void {
    out.write(`${wallAt.replace(/\.\d+Z$/, 'Z')}  ${text}\n`)
    rearm()
  }

  function rearm(): void {
    clock.clearTimeout(heartbeat)
    if (!closed) heartbeat = clock.setTimeout(beat, HEARTBEAT_MS)
  }

  function beat(): void {
    line(new Date(clock.wallNow()).toISOString(), colors.dim(stillWaiting(view, clock.now() - clockOffsetMs, write)))
  }

  /**
   * Reports whether to print a detail now. A detail that comes shortly after another is delayed, and the latest one is printed then: the
   * reason why a pod does not start may be given only once.
   */
  function isDue(event: Detail): boolean {
    const last = details.get(event.uid)
    const waitMs = last?.state === event.state ? last.atMs + DETAIL_EVERY_MS - event.atMs : 0
    if (last === undefined || waitMs <= 0) {
      clock.clearTimeout(last?.timer)
      details.set(event.uid, { state: event.state, atMs: event.atMs })
      return true
    }
    last.next = event
    last.timer ??= clock.setTimeout(() => {
      const { next } = last
      details.set(event.uid, { state: event.state, atMs: last.atMs + DETAIL_EVERY_MS })
      if (next && !closed) line(new Date(clock.wallNow()).toISOString(), words(next, colors, write)!)
    }, waitMs)
    return false
  }

  function wordsFor(event: RunEvent): string | undefined {
    if (event.type === 'podState' || event.type === 'podFinished')
      forgetDetail(event.type === 'podState' ? event.uid : event.result.uid)
    if (event.type === 'podDetail' && !isDue(event)) return undefined
    if (event.type === 'leaseWaiting') {
      if (event.atMs - leaseLineAtMs < LEASE_EVERY_MS) return undefined
      leaseLineAtMs = event.atMs
    }
    return words(event, colors, write)
  }

  /** Drops the delayed detail, since the pod is in another state. */
  function forgetDetail(uid: string): void {
    const last = details.get(uid)
    if (last === undefined) return
    clock.clearTimeout(last.timer)
    delete last.next
    delete last.timer
  }

  rearm()
  return {
    onEvent: (event) => {
      if (closed) return
      clockOffsetMs = clock.now() - event.atMs
      applyEvent(view, event)
      const text = wordsFor(event)
      for (const single of text?.split('\n') ?? []) line(event.wallAt, single)
    },
    notice: (text) => {
      err.write(`${inert(text)}\n`)
      rearm()
    },
    finish: (report) => {
      close()
      for (const text of summary(report, colors, write)) out.write(`${text}\n`)
    },
    close,
  }

  function close(): void {
    closed = true
    clock.clearTimeout(heartbeat)
    for (const { timer } of details.values()) clock.clearTimeout(timer)
  }
}

function words(event: RunEvent, colors: Colors, write: Writing): string | undefined {
  switch (event.type) {
    case 'leaseWaiting':
      return leaseWaiting(event)
    case 'started':
      return started(event)
    case 'template':
      return `${inert(event.workload)}: ${inert(write.reason(event.reason))}`
    case 'podState':
      // The line of the finished pod says this, and more.
      if (['done', 'failed', 'needsOperator'].includes(event.to)) return undefined
      return `${inert(event.pod)} ${event.to}${event.waiting === undefined ? '' : `: ${inert(write.reason(event.waiting))}`}`
    case 'podDetail':
      return `${inert(event.pod)} ${event.state}: ${inert(write.reason(event.waiting))}`
    case 'effect':
      return `${inert(event.pod)} ${effect(event, write)}`
    case 'podFinished':
      return finishedPod(event.result, colors, write)
    case 'interrupting':
      return colors.yellow(interrupting(event.graceMs))
    case 'ordered':
      return colors.yellow(ordered(event))
    case 'paused':
      return colors.yellow(paused(event.by))
    case 'warning':
      return colors.yellow(warning(event, write))
    case 'planned':
      return planOutline(event.plan, colors, write).join('\n')
    case 'finished':
      return undefined
  }
}

const MOST_NAMED = 5

function stillWaiting(view: RunView, nowMs: number, write: Writing): string {
  if (view.lease !== undefined) {
    return `still: ${leaseWaiting({ ...view.lease, remainingMs: view.lease.remainingMs - (nowMs - view.lease.atMs) })}`
  }
  const active = activePods(view)
  const named = active
    .slice(0, MOST_NAMED)
    .map(
      ({ pod, state, sinceMs, waiting }) =>
        `${inert(pod)} ${state} for ${formatElapsed(nowMs - sinceMs)}: ${inert(detail(waiting, write))}`,
    )
  if (active.length > MOST_NAMED) named.push(`${active.length - MOST_NAMED} more pods at work`)
  named.push(...queuedWords(view, write))
  return named.length === 0 ? 'still at work' : `still waiting: ${named.join('; ')}`
}

/** Groups the queued pods by reason: most of them wait for one reason. */
function queuedWords(view: RunView, write: Writing): string[] {
  const queued = queuedPods(view)
  if (queued.length === 0) return []
  if (view.order !== undefined) return [`${queued.length} queued, ${inert(view.order)}`]
  const byReason = Map.groupBy(queued, ({ waiting }) => detail(waiting, write))
  const shown = [...byReason].slice(0, MOST_NAMED)
  const named = shown.map(([reason, pods]) => `${pods.length} queued${reason === '' ? '' : `: ${inert(reason)}`}`)
  const unseen = queued.length - shown.reduce((sum, [, pods]) => sum + pods.length, 0)
  return unseen === 0 ? named : [...named, `${unseen} more queued`]
}
