import { guaranteeWords } from '../words/guarantees.ts'
import { WAITING } from '../build-report.ts'
import { formatElapsed } from '../elapsed.ts'
import type { EffectCounts, Report, ReportEffect, ReportPod } from '../report.ts'
import { podOutcome, PROOFS } from '../words/outcomes.ts'
import { busyMs, callWords, isUnusual, outWords, evidenceWords, toneOf } from '../report-words.ts'
import { adviceLines } from '../words/advice.ts'
import type { Writing } from '../words/writing.ts'
import type { Markup } from './markup.ts'
import { html, lines } from './markup.ts'
import { anchorOf, findable } from './pod-anchor.ts'
import { clockTime, MANY } from './swimlane.ts'

/** The table shows the first failures only; the JSON has all of them. */
const MOST_FAILURES = 200

export function podsTable(pods: readonly ReportPod[], write: Writing): Markup {
  return html`<div class="card${pods.length > MANY ? ' tall' : ''}" role="region" aria-labelledby="pods" tabindex="0">
    <table>
      <thead>
        <tr>
          <th scope="col">Pod</th>
          <th scope="col">Outcome</th>
          <th scope="col">Images</th>
          <th scope="col" class="n">Out of rotation</th>
          <th scope="col" class="n">In all</th>
          <th scope="col">Proof</th>
          <th scope="col">Calls</th>
          <th scope="col">Note</th>
        </tr>
      </thead>
      <tbody>
        ${pods.map((pod) => podRow(pod, write))}
      </tbody>
    </table>
  </div>`
}

function podRow(pod: ReportPod, write: Writing): Markup {
  const busy = busyMs(pod)
  const note = [
    ...(pod.outcome === 'upgraded' || pod.reason === undefined ? [] : [write.reason(pod.reason)]),
    ...(pod.deadline === undefined ? [] : [`${pod.deadline} deadline`]),
    ...(pod.missing === undefined ? [] : [write.reason(pod.missing)]),
  ].filter((part) => part !== '')
  return html`<tr ${findable(pod)}>
    <td class="name"><a href="#${anchorOf(pod)}">${pod.pod}</a></td>
    <td>${outcomeBadge(pod)}</td>
    <td>${pod.images.map(({ container, from, to }) => html`<div class="id">${container}: ${shortChange(from, to)}</div>`)}</td>
    <td class="n">${outWords(pod)}</td>
    <td class="n">${busy === 0 ? '' : formatElapsed(busy)}</td>
    <td>${pod.proof}</td>
    <td class="w">${callWords(pod)}</td>
    <td>${note.join('; ')}</td>
  </tr> `
}

function imageChange(from: string, to: string): string {
  return `${from} → ${to}`
}

/** Only the tags of the two images, if nothing else differs. The row has no room for the full names, which are in the details below. */
function shortChange(from: string, to: string): string {
  const end = to.lastIndexOf(':') + 1
  return end > to.lastIndexOf('/') && from.startsWith(to.slice(0, end))
    ? `${from.slice(end)} → ${to.slice(end)}`
    : imageChange(from, to)
}

function outcomeBadge(pod: ReportPod): Markup {
  return html`<span class="badge ${toneOf(pod.outcome)}">${podOutcome(pod)}</span>`
}

export function loadBalancersTable({ loadBalancers }: Report): Markup {
  return html`<div class="card">
    <table>
      <thead>
        <tr>
          <th scope="col">Load balancer</th>
          <th scope="col">Guarantee</th>
          <th scope="col">Drains</th>
          <th scope="col">Restores</th>
        </tr>
      </thead>
      <tbody>
        ${loadBalancers.map(
          ({ name, adapter, guarantee, drains, restores }) =>
            html`<tr>
              <td>${name}${adapter === undefined ? undefined : html` <span class="soft">(${adapter})</span>`}</td>
              <td>${guarantee === undefined ? 'not known' : guaranteeWords(guarantee)}</td>
              <td class="w">${countWords(drains)}</td>
              <td class="w">${countWords(restores)}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`
}

function countWords(counts: EffectCounts): string {
  const { done, ...others } = counts
  const unusual = Object.entries(others).flatMap(([name, count]) => (count === 0 ? [] : [`${count} ${name}`]))
  return [`${done} done`, ...unusual].join(', ')
}

export function failuresTable({ failures }: Report): Markup {
  const rest = failures.length - MOST_FAILURES
  return html`<div class="card">
      <table>
        <thead>
          <tr>
            <th scope="col">At</th>
            <th scope="col">Kind</th>
            <th scope="col">Pod</th>
            <th scope="col">Detail</th>
          </tr>
        </thead>
        <tbody>
          ${failures.slice(0, MOST_FAILURES).map(
            ({ at, kind, pod, detail }) =>
              html`<tr>
                <td class="id w">${clockTime(at)}</td>
                <td>${kind}</td>
                <td>${pod}</td>
                <td>${detail}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
    ${rest > 0 ? html`<p class="soft">${rest} more are in the JSON.</p>` : undefined}`
}

/** The details of one pod, collapsed to keep the page short. */
export function podDetails(pod: ReportPod, write: Writing): Markup {
  return html`<details class="pod" ${findable(pod)}>
    <summary>${pod.pod} ${outcomeBadge(pod)}</summary>
    <div id="${anchorOf(pod)}">
      ${pod.reason === undefined ? undefined : html`<p>${write.reason(pod.reason)}</p>`}${
        pod.advice === undefined
          ? undefined
          : html`<h3>What to look at</h3>
              <pre>${lines(pod.advice.flatMap((one) => adviceLines(one, write)).join('\n'))}</pre>`
      }${pod.restarts.length === 0 ? undefined : restarts(pod)}${pod.effects.length === 0 ? undefined : effects(pod.effects, write)}${
        pod.phases.length === 0 ? undefined : phases(pod, write)
      }
      <p class="soft">
        <span class="id">${pod.uid}</span>${pod.node === undefined ? undefined : html` on ${pod.node}`}${
          pod.missing === undefined ? undefined : html`; ${write.reason(pod.missing)}`
        }
      </p>
    </div>
  </details> `
}

function restarts({ proof, restarts: all }: ReportPod): Markup {
  const words = proof === undefined ? 'not proven' : (PROOFS[proof] ?? '')
  return html`<h3>Proof of the restart</h3>
    <p>${proof === undefined ? undefined : html`<b>${proof}</b>: `}${words}</p>
    <table>
      <thead>
        <tr>
          <th scope="col">Container</th>
          <th scope="col">Image</th>
          <th scope="col">Container id</th>
          <th scope="col">Image id</th>
        </tr>
      </thead>
      <tbody>
        ${all.map(
          ({ container, image, containerId, imageId }) =>
            html`<tr>
              <td>${container}</td>
              <td class="id">${imageChange(image.from, image.to)}</td>
              <td class="id">${fromTo(containerId)}</td>
              <td class="id">${fromTo(imageId)}</td>
            </tr>`,
        )}
      </tbody>
    </table>`
}

function fromTo({ from = '–', to = '–' }: { from?: string; to?: string }): string {
  return `${from} → ${to}`
}

function effects(all: readonly ReportEffect[], write: Writing): Markup {
  return html`<h3>Calls to load balancers</h3>
    <table>
      <thead>
        <tr>
          <th scope="col">At</th>
          <th scope="col">Call</th>
          <th scope="col">Entry</th>
          <th scope="col">Outcome</th>
          <th scope="col">Evidence</th>
          <th scope="col">Operation</th>
        </tr>
      </thead>
      <tbody>
        ${all.map(
          (effect) =>
            html`<tr>
              <td class="id w">${clockTime(effect.at)}</td>
              <td>${effect.effect}</td>
              <td>${effect.loadBalancer}: <span class="id">${effect.target}</span></td>
              <td class="w">
                ${isUnusual(effect) ? html`<span class="badge warn">${effectOutcome(effect)}</span>` : effectOutcome(effect)}
              </td>
              <td>
                ${evidenceWords(effect, write)}${effect.batch > 1 ? html` <span class="soft">(${effect.batch} targets in one call)</span>` : undefined}
              </td>
              <td class="id">${effect.operation}</td>
            </tr>`,
        )}
      </tbody>
    </table>`
}

function effectOutcome({ outcome, repeated }: ReportEffect): string {
  return repeated ? `repeated, ${outcome}` : outcome
}

function phases({ phases: all }: ReportPod, write: Writing): Markup {
  const shown = all.filter(({ state, fromAt, toAt }) => !WAITING.has(state) || fromAt !== toAt)
  return html`<h3>Phases</h3>
    <table>
      <thead>
        <tr>
          <th>Phase</th>
          <th>From</th>
          <th class="n">Took</th>
          <th>Waited for, last</th>
        </tr>
      </thead>
      <tbody>
        ${shown.map(
          ({ state, fromAt, toAt, waiting }) =>
            html`<tr>
              <td>${state}</td>
              <td class="id w">${clockTime(fromAt)}</td>
              <td class="n">${formatElapsed(Date.parse(toAt) - Date.parse(fromAt))}</td>
              <td>${waiting === undefined ? undefined : write.reason(waiting)}</td>
            </tr>`,
        )}
      </tbody>
    </table>`
}
