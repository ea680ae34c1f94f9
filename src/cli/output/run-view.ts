/** What is known of a run so far: a fold over its events, for whoever shows it. */
import type { Reason } from '../../reasons/reason.ts'
import type { PodResult, PodState, RunEvent } from '../../engine/events.ts'

export interface PodRow {
  uid: string
  pod: string
  state: PodState | undefined
  /** When it came to this state, on the clock of the events. */
  sinceMs: number
  /** What it waits for. */
  waiting?: Reason
  /** Requests that `waiting` has under way, and which way that went. */
  count?: number
  trend: '' | '↓' | '↑'
  result?: PodResult
}

export interface RunView {
  run?: string
  /** By uid, in the order of the run. */
  pods: Map<string, PodRow>
  lease?: { lease: string; holder: string; remainingMs: number; atMs: number }
  interrupting: boolean
  /** Such as "paused by NAME". */
  order?: string
}

export function emptyView(): RunView {
  return { pods: new Map(), interrupting: false }
}

export function applyEvent(view: RunView, event: RunEvent): void {
  switch (event.type) {
    case 'leaseWaiting':
      view.lease = { lease: event.lease, holder: event.holder, remainingMs: event.remainingMs, atMs: event.atMs }
      return
    case 'started':
      delete view.lease
      view.run = event.run
      for (const { uid, pod } of event.pods) rowOf(view, uid, pod, event.atMs)
      return
    case 'podState': {
      const row = rowOf(view, event.uid, event.pod, event.atMs)
      row.state = event.to
      row.sinceMs = event.atMs
      delete row.count
      setWaiting(row, event.waiting)
      return
    }
    case 'podDetail':
      setWaiting(rowOf(view, event.uid, event.pod, event.atMs), event.waiting)
      return
    case 'podFinished':
      rowOf(view, event.result.uid, event.result.pod, event.atMs).result = event.result
      return
    case 'interrupting':
      view.interrupting = true
      return
    case 'ordered':
      if (event.order === 'resume') delete view.order
      else view.order = `${event.order === 'pause' ? 'paused' : 'abort ordered'} by ${event.by}`
      return
    case 'warning':
    case 'planned':
    case 'paused':
    case 'template':
    case 'effect':
    case 'finished':
  }
}

/** Pods that something is being done with now. */
export function activePods(view: RunView): PodRow[] {
  return [...view.pods.values()].filter(({ state, result }) => result === undefined && state !== undefined && state !== 'queued')
}

/** Pods whose turn has not come; what they wait for is their detail. */
export function queuedPods(view: RunView): PodRow[] {
  return [...view.pods.values()].filter(
    ({ state, result }) => result === undefined && (state === undefined || state === 'queued'),
  )
}

/** Not those that an interrupt has left as they were: nothing was finished with them. */
export function finishedCount(view: RunView): number {
  return [...view.pods.values()].filter(({ result }) => result !== undefined && result.outcome !== 'unchanged').length
}

function rowOf(view: RunView, uid: string, pod: string, atMs: number): PodRow {
  const existing = view.pods.get(uid)
  if (existing !== undefined) return existing
  const row: PodRow = { uid, pod, state: undefined, sinceMs: atMs, trend: '' }
  view.pods.set(uid, row)
  return row
}

function setWaiting(row: PodRow, waiting: Reason | undefined): void {
  if (waiting === undefined) delete row.waiting
  else row.waiting = waiting
  const count = inFlightOf(waiting)
  if (count === undefined) {
    delete row.count
    row.trend = ''
    return
  }
  if (row.count === undefined) row.trend = ''
  else if (count !== row.count) row.trend = count < row.count ? '↓' : '↑'
  row.count = count
}

/** Undefined where no load balancer counts requests. */
function inFlightOf(waiting: Reason | undefined): number | undefined {
  if (waiting?.code === 'in-flight') return waiting.requests
  if (waiting?.code !== 'entries-read') return undefined
  const counted = waiting.entries.flatMap(({ inFlight }) => inFlight ?? [])
  return counted.length === 0 ? undefined : counted.reduce((sum, one) => sum + one, 0)
}
