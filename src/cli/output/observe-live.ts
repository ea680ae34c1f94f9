import type { Look } from '../../observer/read/observe.ts'
import type { LegSummary, ObserverSnapshot, Told } from '../../observer/told.ts'
import type { Clock } from '../../ports/clock.ts'
import { changeWords, lagWords, observerFindingMessage } from '../../report/words/observe.ts'
import type { Writing } from '../../report/words/writing.ts'
import type { Colors } from './color.ts'
import { table, truncate, wrap } from './columns.ts'
import { formatElapsed } from './elapsed.ts'
import { createFrame } from './frame.ts'
import { inert } from './inert.ts'
import { legWords, type ObserveView } from './observe-view.ts'

/** The shortest time between two redraws, since each needs a snapshot. */
const SHORTEST_REDRAW_MS = 250
/** The screen is redrawn this often without a change, since ages go on. */
const TICK_MS = 1_000
/** The summary of all lags is made at most so often that it takes a twentieth of the time. */
const SUMMARY_SHARE = 20
const CHANGES_KEPT = 100
/** The most lines of names of clusters and load balancers. */
const MOST_LINES_OF_SOURCES = 3

export interface ObserveLiveDeps {
  out: { readonly columns: number; readonly rows: number; readonly backlog: number; write(text: string): void }
  clock: Clock
  colors: Colors
  write: Writing
  /** The view of findings and summaries, which scroll away above the screen. */
  view: ObserveView
  /** Returns the beginning of a line: the cluster, where there are several. */
  prefix(of: object): string
}

/** A screen that is redrawn in place and shows the current state. Findings scroll away above the screen, with their hints. */
export interface ObserveLive {
  begin(look: Look): void
  told(told: Told): void
  /** Prints a line above the screen, where the line stays. */
  notice(text: string): void
  lines(lines: readonly string[]): void
  /** Removes the screen. */
  close(): void
}

export function createObserveLive({ out, clock, colors, write, view, prefix }: ObserveLiveDeps): ObserveLive {
  const frame = createFrame(out)
  const changes: string[] = []
  let look: Look | undefined
  let drawnAtMs = Number.NEGATIVE_INFINITY
  let startedAtMs = clock.now()
  let worst: { legs: LegSummary[]; againAtMs: number } = { legs: [], againAtMs: Number.NEGATIVE_INFINITY }
  let timer: unknown
  let isClosed = false

  function worstLegs(): LegSummary[] {
    const beganAtMs = clock.now()
    if (beganAtMs < worst.againAtMs) return worst.legs
    const legs = look!.summary().legs.toSorted((a, b) => b.p99Ms - a.p99Ms)
    const tookMs = clock.now() - beganAtMs
    worst = { legs, againAtMs: beganAtMs + Math.max(TICK_MS, tookMs * SUMMARY_SHARE) }
    return legs
  }

  function draw(): void {
    drawnAtMs = clock.now()
    // A terminal that does not keep up gets fewer frames.
    if (look !== undefined && out.backlog === 0) {
      const snapshot = look.snapshot()
      const elapsed = formatElapsed(drawnAtMs - startedAtMs)
      frame.draw(screenText({ snapshot, legs: worstLegs(), changes, elapsed }, out, { colors, write, prefix }))
    }
    schedule(TICK_MS)
  }

  function schedule(delayMs: number): void {
    clock.clearTimeout(timer)
    if (!isClosed) timer = clock.setTimeout(draw, delayMs)
  }

  function drawSoon(): void {
    schedule(Math.max(0, drawnAtMs + SHORTEST_REDRAW_MS - clock.now()))
  }

  function persist(lines: readonly string[]): void {
    if (!isClosed) frame.clear()
    for (const line of lines) out.write(`${line}\n`)
  }

  return {
    begin(own) {
      look = own
      startedAtMs = clock.now()
      drawSoon()
    },
    told(told) {
      if (told.type === 'finding') persist(view.told(told))
      else {
        const at = new Date(told.at).toISOString().slice(11, 23)
        changes.unshift(inert(`${at}  ${prefix(told)}${changeWords(told, write)}`))
        changes.length = Math.min(changes.length, CHANGES_KEPT)
      }
      drawSoon()
    },
    notice(text) {
      persist([inert(text)])
      drawSoon()
    },
    lines(lines) {
      persist(lines)
      drawSoon()
    },
    close() {
      if (isClosed) return
      isClosed = true
      clock.clearTimeout(timer)
      frame.clear()
    },
  }
}

interface Seen {
  snapshot: ObserverSnapshot
  legs: readonly LegSummary[]
  changes: readonly string[]
  elapsed: string
}

const CLUSTER = { listing: 'is being listed', observed: 'observed', unreachable: 'unreachable' }

function screenText(
  { snapshot, legs, changes, elapsed }: Seen,
  size: { columns: number; rows: number },
  { colors, write, prefix }: Pick<ObserveLiveDeps, 'colors' | 'write' | 'prefix'>,
): string {
  // The last column stays free, since some terminals wrap when it is written.
  const columns = Math.max(1, size.columns - 1)
  const { findings } = snapshot
  const head = `observing for ${elapsed}, ${findings.length === 0 ? 'no finding holds' : `${findings.length} ${findings.length === 1 ? 'finding holds' : 'findings hold'}`}`
  const top = [truncate(head, columns), ...sourceLines(snapshot, columns)]
  let room = size.rows - 1 - top.length
  /** Returns the title and the lines that fit into this share of the room. The title has the number of lines that are left out. */
  function section(title: string, lines: readonly string[], share: number): string[] {
    const most = Math.min(lines.length, Math.floor(room * share) - 1)
    if (most < 1) return []
    const left = lines.length - most
    room -= most + 1
    return [colors.dim(truncate(left > 0 ? `${title} (${left} more)` : title, columns)), ...lines.slice(0, most)]
  }
  const held = findings
    .toReversed()
    .map(({ finding }) => truncate(`  ‼ ${inert(prefix(finding) + observerFindingMessage(finding, write))}`, columns))
    .map((line) => colors.yellow(line))
  return [
    ...top,
    ...section('findings', held, 1 / 3),
    ...section('longest lags', lagLines(legs, prefix, columns), 1 / 2),
    ...section(
      'last changes',
      changes.map((line) => truncate(`  ${line}`, columns)),
      1,
    ),
  ].join('\n')
}

function sourceLines({ clusters, loadBalancers }: ObserverSnapshot, columns: number): string[] {
  // Clusters and load balancers that do not answer come first.
  const order = { unreachable: 0, listing: 1, observed: 2 }
  const sources = [
    ...clusters.toSorted((a, b) => order[a.is] - order[b.is]).map(({ name, is }) => `cluster ${name}: ${CLUSTER[is]}`),
    ...loadBalancers
      .toSorted((a, b) => Number(a.isRead) - Number(b.isRead))
      .map(({ name, isRead, entries }) => {
        const counts = Object.entries(entries).filter(([, count]) => count > 0)
        const words = counts.map(([state, count]) => `${count} ${state}`).join(', ')
        return `load balancer ${name}: ${isRead ? words || 'no entries' : 'unread'}`
      }),
  ]
  const lines = wrap(inert(sources.join('; ')), columns)
  if (lines.length <= MOST_LINES_OF_SOURCES) return lines
  return [...lines.slice(0, MOST_LINES_OF_SOURCES - 1), truncate(lines.slice(MOST_LINES_OF_SOURCES - 1).join(' '), columns)]
}

function lagLines(legs: readonly LegSummary[], prefix: (of: object) => string, columns: number): string[] {
  const rows = legs
    .slice(0, CHANGES_KEPT)
    .map((leg) => [
      inert(`${prefix(leg)}${leg.namespace}/${leg.service}`),
      inert(legWords(leg)),
      `p50 ${lagWords(leg.p50Ms)}`,
      `p99 ${lagWords(leg.p99Ms)}`,
      `${leg.changes} ${leg.changes === 1 ? 'change' : 'changes'}`,
    ])
  return table(rows, { indent: '  ' }).map((line) => truncate(line, columns))
}
