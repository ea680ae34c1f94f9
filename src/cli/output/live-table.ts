import type { Writing } from '../../report/words/writing.ts'
import type { RunEvent } from '../../engine/events.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Colors } from './color.ts'
import { truncate, wrap } from './columns.ts'
import { formatElapsed } from './elapsed.ts'
import { createFrame } from './frame.ts'
import { inert } from './inert.ts'
import { planOutline } from './plan-outline.ts'
import { podRows, type PodCells } from './pod-rows.ts'
import type { Renderer } from './renderer.ts'
import type { RunReport } from './run-report.ts'
import { activePods, applyEvent, emptyView, finishedCount, queuedPods, type PodRow, type RunView } from './run-view.ts'
import { detail, effect, interrupting, leaseWaiting, ordered, paused, started, warning } from '../../report/words/events.ts'
import { finishedPod } from './finished-pod.ts'
import { summary } from './summary.ts'

/** The shortest time between two redraws. A faster rate is unreadable, and each redraw costs a slow terminal a screen of text. */
const SHORTEST_REDRAW_MS = 100
/** The times in the table advance without an event. */
const TICK_MS = 1000
/** The lines that are no rows: the head, the column names, the queue, and the line of the cursor. */
const FURNITURE_LINES = 4

export interface LiveTableDeps {
  out: { readonly columns: number; readonly rows: number; readonly backlog: number; write(text: string): void }
  err: { write(text: string): void }
  clock: Clock
  colors: Colors
  write: Writing
}

/** Redraws one table in place. Final text, such as a finished pod or a warning, scrolls away above it. */
export function createLiveTable({ out, err, clock, colors, write }: LiveTableDeps): Renderer {
  const view = emptyView()
  const frame = createFrame(out)
  /** `clock.now()` less `event.atMs`. The times of the rows are on the clock of the events. */
  let clockOffsetMs = clock.now()
  let drawnAtMs = Number.NEGATIVE_INFINITY
  let timer: unknown
  let closed = false

  function draw(): void {
    drawnAtMs = clock.now()
    // A terminal that does not keep up gets the next frame instead of all of them.
    if (out.backlog === 0) frame.draw(frameText(view, drawnAtMs - clockOffsetMs, out, { colors, write }))
    schedule(TICK_MS)
  }

  function schedule(delayMs: number): void {
    clock.clearTimeout(timer)
    if (!closed) timer = clock.setTimeout(draw, delayMs)
  }

  /** Prints text above the table for good. log-update would break long lines, so that they could not be copied. */
  function persist(text: string, to: { write(text: string): void } = out): void {
    frame.clear()
    to.write(`${text}\n`)
    drawnAtMs = Number.NEGATIVE_INFINITY
  }

  return {
    onEvent: (event) => {
      if (closed) return
      clockOffsetMs = clock.now() - event.atMs
      applyEvent(view, event)
      const line = permanentLine(event, colors, write)
      if (line !== undefined) persist(line)
      schedule(Math.max(0, drawnAtMs + SHORTEST_REDRAW_MS - clock.now()))
    },
    notice: (text) => {
      persist(inert(text), err)
      schedule(0)
    },
    finish: (report: RunReport) => {
      close()
      for (const line of summary(report, colors, write)) out.write(`${line}\n`)
    },
    close,
  }

  function close(): void {
    if (closed) return
    closed = true
    clock.clearTimeout(timer)
    frame.clear()
  }
}

function permanentLine(event: RunEvent, colors: Colors, write: Writing): string | undefined {
  switch (event.type) {
    case 'started':
      return started(event)
    case 'template':
      return `${inert(event.workload)}: ${inert(write.reason(event.reason))}`
    case 'podFinished':
      return finishedPod(event.result, colors, write)
    case 'warning':
      return colors.yellow(warning(event, write))
    case 'interrupting':
      return colors.yellow(interrupting(event.graceMs))
    case 'ordered':
      return colors.yellow(ordered(event))
    case 'paused':
      return colors.yellow(paused(event.by))
    case 'effect':
      // For an applied effect, the state of the pod is enough.
      return event.outcome === 'applied' ? undefined : colors.yellow(`${inert(event.pod)}: ${effect(event, write)}`)
    case 'planned':
      return planOutline(event.plan, colors, write).join('\n')
    case 'leaseWaiting':
    case 'podState':
    case 'podDetail':
    case 'finished':
      return undefined
  }
}

function frameText(
  view: RunView,
  nowMs: number,
  size: { columns: number; rows: number },
  { colors, write }: { colors: Colors; write: Writing },
): string {
  // The last column stays free: some terminals wrap when it is written.
  const columns = size.columns - 1
  if (view.lease !== undefined) {
    const remainingMs = view.lease.remainingMs - (nowMs - view.lease.atMs)
    return wrap(leaseWaiting({ ...view.lease, remainingMs }), columns).join('\n')
  }
  if (view.run === undefined) return ''
  const active = activePods(view)
  const head = `${finishedCount(view)} of ${view.pods.size} pods finished, ${active.length} at work, ${formatElapsed(nowMs)}`
  const mode = view.interrupting ? 'interrupting: ' : view.order === undefined ? '' : `${inert(view.order)}: `
  const lines = [truncate(`${mode}${head}`, columns)]
  const { lines: rows, shown } = podRows(
    active.map((row) => cells(row, nowMs, write)),
    { columns, lines: Math.max(1, size.rows - FURNITURE_LINES) },
  )
  const unseen = active.length - shown
  const rest = [unseen > 0 ? `${unseen} more at work` : '', queuedWords(view, write)].filter((text) => text !== '')
  const waiting = rest.length === 0 ? [] : wrap(rest.join(', '), columns - 2).map((line) => `  ${line}`)
  // The rows come first where the terminal has too few lines.
  const room = Math.max(1, size.rows - lines.length - rows.length - 1)
  return [...lines, ...rows.map((line, index) => (index === 0 ? colors.dim(line) : line)), ...waiting.slice(0, room)].join('\n')
}

/** Returns one line with the number of queued pods, and the reason that most of them have. */
function queuedWords(view: RunView, write: Writing): string {
  const queued = queuedPods(view)
  if (queued.length === 0) return ''
  const all = `${queued.length} queued`
  // The head shows an order, which is the reason then.
  if (view.order !== undefined || view.interrupting) return all
  const byReason = [...Map.groupBy(queued, ({ waiting }) => detail(waiting, write))].toSorted(
    ([, a], [, b]) => b.length - a.length,
  )
  const [reason, pods] = byReason[0]!
  if (reason === '') return all
  return `${all}${pods.length === queued.length ? '' : `, ${pods.length} of them`}: ${inert(reason)}`
}

function cells({ pod, state = 'queued', sinceMs, waiting, trend }: PodRow, nowMs: number, write: Writing): PodCells {
  const elapsed = formatElapsed(nowMs - sinceMs)
  return { pod: inert(pod), state, elapsed, detail: `${inert(detail(waiting, write))}${trend === '' ? '' : ` ${trend}`}` }
}
