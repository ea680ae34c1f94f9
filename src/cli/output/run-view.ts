/** The known state of a run: a fold over its events, for renderers. */
import type { Reason } from '../../reasons/reason.ts'
import type { PodResult, PodState, RunEvent } from '../../engine/events.ts'

export interface PodRow {
  uid: string
  pod: string
  state: PodState | undefined
  /** The start of the present state, on the clock of the events. */
  sinceMs: number
  /** The reason for which the pod waits. */
  waiting?: Reason
  /** The number of requests that `waiting` counts, and the direction of its last change. */
  count?: number
  trend: '' | '↓' | '↑'
  result?: PodResult
}

export interface RunView {
  run?: string
  /** The pods by uid, in the order of the run. */
  pods: Map<string, PodRow>
  lease?: { lease: string; holder: string; remainingMs: number; atMs: number }
  interrupting: boolean
  /** The standing order, such as "paused by NAME". */
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

/** Returns the pods at work. */
export function activePods(view: RunView): PodRow[] {
  return [...view.pods.values()].filter(({ state, result }) => result === undefined && state !== undefined && state !== 'queued')
}

/** Returns the pods whose turn has not come. The detail of such a pod is the reason of the wait. */
export function queuedPods(view: RunView): PodRow[] {
  return [...view.pods.values()].filter(
    ({ state, result }) => result === undefined && (state === undefined || state === 'queued'),
  )
}

/** Counts finished pods. A pod that an interrupt has left unchanged is not finished. */
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

/** Returns undefined where no load balancer counts requests. */
function inFlightOf(waiting: Reason | undefined): number | undefined {
  if (waiting?.code === 'in-flight') return waiting.requests
  if (waiting?.code !== 'entries-read') return undefined
  const counted = waiting.entries.flatMap(({ inFlight }) => inFlight ?? [])
  return counted.length === 0 ? undefined : counted.reduce((sum, one) => sum + one, 0)
}
