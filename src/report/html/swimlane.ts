import { WAITING } from '../build-report.ts'
import { formatElapsed } from '../elapsed.ts'
import type { Report, ReportEffect, ReportFailure, ReportPhase, ReportPod } from '../report.ts'
import { evidenceWords, busyMs, isUnusual, toneOf } from '../report-words.ts'
import { podOutcome } from '../words/outcomes.ts'
import type { Writing } from '../words/writing.ts'
import type { Markup } from './markup.ts'
import { html, titled } from './markup.ts'
import { createScale, type Scale } from './scale.ts'
import { anchorOf, findable } from './pod-anchor.ts'

/** States in the order of a pod upgrade, for the legend. */
const LEGEND = [
  'claiming',
  'checking',
  'draining',
  'emptying',
  'patching',
  'rollingBack',
  'restarting',
  'warming',
  'restoring',
  'readmitting',
  'verifying',
  'settling',
  'closing',
]

/** The number of rows from which on a table has a scroll bar of its own. */
export const MANY = 25

/** The chart of the run: one row for each pod, one bar for each phase, and ticks for failures. Undefined if no event has a time. */
export function swimlane({ pods, failures, startedAt }: Report, write: Writing): Markup | undefined {
  const timed = pods.filter(({ phases }) => phases.some(isWork))
  const spans = timed.flatMap(({ phases }) => phases.filter(isWork).map(spanOf))
  for (const { at } of failures) spans.push({ fromMs: Date.parse(at), toMs: Date.parse(at) })
  if (spans.length === 0) return undefined
  const scale = createScale(spans, Date.parse(startedAt))
  const states = new Set(timed.flatMap(({ phases }) => phases.map(({ state }) => state)))
  const byPod = new Map<string | undefined, ReportFailure[]>()
  const names = new Set(timed.map(({ pod }) => pod))
  for (const failure of failures) {
    const key = failure.pod !== undefined && names.has(failure.pod) ? failure.pod : undefined
    const known = byPod.get(key)
    if (known) known.push(failure)
    else byPod.set(key, [failure])
  }
  const elsewhere = byPod.get(undefined) ?? []
  return html`<ul class="legend">
      ${LEGEND.filter((state) => states.has(state)).map((state) => html`<li><i class="p-${state}"></i>${state}</li>`)}
      <li><i class="tick"></i>failure</li>
      <li><i class="tick odd"></i>unusual call</li>
    </ul>
    <div class="card${timed.length > MANY ? ' tall' : ''}" role="region" aria-labelledby="timeline" tabindex="0">
      <div class="lane axis"><span class="soft">since ${clockTime(startedAt)}</span>${axis(scale, Date.parse(startedAt))}</div>
      <ul class="lanes">
        ${
          elsewhere.length === 0
            ? undefined
            : html`<li class="lane">
                <span>failures</span
                ><svg role="img" aria-label="${elsewhere.length} failures of no known pod">${failureTicks(elsewhere, scale)}</svg>
              </li>`
        }${timed.map((pod) => lane(pod, byPod.get(pod.pod) ?? [], scale, write))}
      </ul>
    </div>`
}

function lane(pod: ReportPod, failures: readonly ReportFailure[], scale: Scale, write: Writing): Markup {
  const words = `${pod.pod}: ${podOutcome(pod)} in ${formatElapsed(busyMs(pod))}${failures.length === 0 ? '' : `, ${failures.length} failures`}`
  const end = pod.phases.at(-1)
  return html`<li class="lane" ${findable(pod)}>
    <a href="#${anchorOf(pod)}">${pod.pod}</a
    ><svg role="img" aria-label="${words}">
      ${pod.phases
        .filter(isWork)
        .map((phase) =>
          bar(phase, scale, write),
        )}${pod.effects.filter(isUnusual).map((effect) => effectTick(effect, scale, write))}${
        toneOf(pod.outcome) === 'bad' && end
          ? tick(
              {
                at: end.toAt,
                title: `${podOutcome(pod)}${pod.reason === undefined ? '' : `: ${write.reason(pod.reason)}`}`,
                odd: false,
              },
              scale,
            )
          : undefined
      }${failureTicks(failures, scale)}
    </svg>
  </li> `
}

function bar(phase: ReportPhase, scale: Scale, write: Writing): Markup {
  const { state, fromAt, waiting } = phase
  const { fromMs, toMs } = spanOf(phase)
  const x = scale.x(fromMs)
  const title = `${state} ${formatElapsed(toMs - fromMs)}, from ${clockTime(fromAt)}${waiting === undefined ? '' : `: ${write.reason(waiting)}`}`
  return html`<rect class="bar p-${state}" x="${x}%" y="6" width="${rounded(scale.x(toMs) - x)}%" height="12"
    >${titled(title)}</rect
  >`
}

function effectTick(told: ReportEffect, scale: Scale, write: Writing): Markup {
  const { at, effect, outcome, repeated, loadBalancer, target } = told
  const evidence = evidenceWords(told, write)
  const title = `${effect} of ${target} in ${loadBalancer} ${repeated ? 'repeated, ' : ''}${outcome}${evidence === '' ? '' : `: ${evidence}`}`
  return tick({ at, title, odd: outcome !== 'failed' }, scale)
}

/** Ticks that would overlap are merged. */
function failureTicks(failures: readonly ReportFailure[], scale: Scale): Markup[] {
  const byPlace = Map.groupBy(failures, ({ at }) => scale.x(Date.parse(at)).toFixed(1))
  return Array.from(byPlace.values(), (together) => {
    const [{ at, kind, detail }] = together as [ReportFailure]
    const more = together.length === 1 ? '' : `, and ${together.length - 1} more`
    return tick({ at, title: `${clockTime(at)} ${kind}${detail === undefined ? '' : `: ${detail}`}${more}`, odd: false }, scale)
  })
}

function tick({ at, title, odd }: { at: string; title: string; odd: boolean }, scale: Scale): Markup {
  const x = scale.x(Date.parse(at))
  const line = html`<line class="${odd ? 'odd' : 'tick'}" x1="${x}%" x2="${x}%" y1="2" y2="22" />`
  return html`<g>${titled(title)}${line}<circle class="${odd ? 'oddhead' : 'head'}" cx="${x}%" cy="4" r="3" /></g>`
}

function axis(scale: Scale, zeroMs: number): Markup {
  const gaps = scale.gaps.map(({ fromMs, toMs }) => {
    const x = scale.x(fromMs)
    const title = titled(`${formatElapsed(toMs - fromMs)} in which nothing happened, made short`)
    return html`<rect class="gap" x="${x}%" y="0" width="${rounded(scale.x(toMs) - x)}%" height="32">${title}</rect>`
  })
  const labels = scale.ticks.map((at) => {
    const x = scale.x(at)
    const place = x < 4 ? 'first' : x > 96 ? 'last' : ''
    const line = html`<line class="grid" x1="${x}%" x2="${x}%" y1="24" y2="32" />`
    return html`${line}<text class="${place}" x="${x}%" y="19">+${formatElapsed(at - zeroMs)}</text>`
  })
  return html`<svg aria-hidden="true">${gaps}${labels}</svg>`
}

function rounded(percent: number): number {
  return Math.round(percent * 1000) / 1000
}

function isWork({ state }: ReportPhase): boolean {
  return !WAITING.has(state)
}

function spanOf({ fromAt, toAt }: ReportPhase): { fromMs: number; toMs: number } {
  return { fromMs: Date.parse(fromAt), toMs: Date.parse(toAt) }
}

/** The time of day of an instant, `10:17:53.120Z`; the date is at the top of the page. */
export function clockTime(at: string): string {
  return at.slice(11)
}
