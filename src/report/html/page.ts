import { createHash } from 'node:crypto'
import { formatElapsed } from '../elapsed.ts'
import type { Report } from '../report.ts'
import { isWord } from '../run-ending.ts'
import { podOutcome, runOutcome } from '../words/outcomes.ts'
import { toneOf, warningLines } from '../report-words.ts'
import { worded } from '../words/document.ts'
import type { Writing } from '../words/writing.ts'
import type { Markup } from './markup.ts'
import { embeddedJson, html, verbatim } from './markup.ts'
import { SCRIPT } from './script.ts'
import { STYLE } from './style.ts'
import { swimlane } from './swimlane.ts'
import { imageWords } from '../words/images.ts'
import { failuresTable, loadBalancersTable, podDetails, podsTable } from './tables.ts'

/**
 * The policy allows only the style and the script of the file, by their hashes, so that markup that escapes the escaping has no effect. The
 * one image is the empty icon; without it a browser requests an icon from the server of the file.
 */
const POLICY = [
  "default-src 'none'",
  `style-src '${hashOf(STYLE)}'`,
  `script-src '${hashOf(SCRIPT)}'`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
].join('; ')

/** The report as one HTML file without external parts. It contains the JSON as well. */
export function reportPage(report: Report, write: Writing): string {
  const title = report.workloads.length === 0 ? `run ${report.run}` : report.workloads.join(', ')
  const lanes = swimlane(report, write)
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content="${verbatim(POLICY)}" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="referrer" content="no-referrer" />
        <link rel="icon" href="data:," />
        <title>${title}: ${runOutcome(report)}</title>
        ${verbatim(`<style>${STYLE}</style>`)}
      </head>
      <body>
        <header>
          <p class="brand">sluice: report of a run</p>
          <h1>${title}</h1>
          <div class="lead">
            <span class="badge ${toneOf(report.outcome)}">${runOutcome(report)}</span>
            <p>${write.reason(report.reason)}</p>
          </div>
          ${facts(report)}${contents(report, lanes !== undefined)}${notes('What is missing here', report.missing.map(write.reason))}${notes('Warnings', warningLines(report, write))}
        </header>
        <main>
          <h2 id="pods">Pods</h2>
          ${controls(report)}${podsTable(report.pods, write)}
          ${
            lanes === undefined
              ? undefined
              : html`<h2 id="timeline">Timeline</h2>
                  ${lanes}`
          }
          <h2 id="load-balancers">Load balancers</h2>
          ${loadBalancersTable(report)}
          ${
            report.failures.length === 0
              ? undefined
              : html`<h2 id="failures">Failures seen from outside</h2>
                  ${failuresTable(report)}`
          }
          <h2 id="evidence">Pod by pod</h2>
          ${report.pods.map((pod) => podDetails(pod, write))}
          ${
            report.processes.length < 2
              ? undefined
              : html`<h2 id="processes">Processes</h2>
                  ${processes(report, write)}`
          }
        </main>
        <footer>
          Times are UTC, by the clock of the machine that ran sluice. Container and image ids are shortened as
          <code>crictl ps</code> shows them. This file asks for nothing over the network, and holds its own data as JSON in the
          element <code>report</code>.
        </footer>
        <script type="application/json" id="report">
          ${embeddedJson(worded(report, write))}
        </script>
        ${verbatim(`<script>${SCRIPT}</script>`)}
      </body>
    </html> `.markup
}

function facts(report: Report): Markup {
  const { run, namespace, images, undoes, startedAt, endedAt, window, pods, failures, processes: all } = report
  const last = all.findLast((one) => !isWord(one))
  const counts = new Map<string, number>()
  for (const pod of pods) counts.set(podOutcome(pod), (counts.get(podOutcome(pod)) ?? 0) + 1)
  const rows: [string, string][] = [
    ['Run', run === '' ? 'none began' : run],
    ['Namespace', namespace],
    [undoes === undefined ? 'Images' : `Images, taking back run ${undoes}`, imageWords(images) || "the template's own"],
    ['Pods', Array.from(counts, ([outcome, count]) => `${count} ${outcome}`).join(', ') || 'none'],
    ['Started', instant(startedAt)],
    ['Ended', endedAt === undefined ? 'not told' : instant(endedAt)],
    ['Took', endedAt === undefined ? 'not told' : formatElapsed(Date.parse(endedAt) - Date.parse(startedAt))],
    ['Out at once, at most', window === undefined ? 'not known' : String(window)],
    ['By', last === undefined ? 'not known' : `${last.by} (epoch ${last.epoch})`],
    ...(failures.length === 0 ? [] : [['Failures seen from outside', String(failures.length)] as [string, string]]),
  ]
  return html`<dl class="facts">
    ${rows.map(
      ([name, value]) =>
        html`<div>
          <dt>${name}</dt>
          <dd>${value}</dd>
        </div>`,
    )}
  </dl>`
}

function contents({ failures, processes: all }: Report, hasLanes: boolean): Markup {
  const places: [string, string, boolean][] = [
    ['pods', 'Pods', true],
    ['timeline', 'Timeline', hasLanes],
    ['load-balancers', 'Load balancers', true],
    ['failures', 'Failures', failures.length > 0],
    ['evidence', 'Pod by pod', true],
    ['processes', 'Processes', all.length > 1],
  ]
  return html`<nav aria-label="On this page">
    ${places.filter(([, , isThere]) => isThere).map(([place, words]) => html`<a href="#${place}">${words}</a> `)}
  </nav>`
}

function notes(heading: string, all: readonly string[]): Markup | undefined {
  if (all.length === 0) return undefined
  return html`<div class="note">
    <b>${heading}</b>
    <ul>
      ${all.map((text) => html`<li>${text}</li>`)}
    </ul>
  </div>`
}

function controls({ pods }: Report): Markup {
  const outcomes = new Map(pods.map((pod) => [pod.outcome, podOutcome(pod)]))
  return html`<div class="controls">
    <label>Find <input id="filter" type="search" placeholder="pod or node" /></label
    ><label
      >Outcome
      <select id="outcome">
        <option value="">all</option>
        ${Array.from(outcomes, ([outcome, words]) => html`<option value="${outcome}">${words}</option>`)}
      </select></label
    ><button id="expand" type="button">Open or close all</button><span id="count" class="soft" aria-live="polite"></span>
  </div>`
}

function processes({ processes: all }: Report, write: Writing): Markup {
  return html`<div class="card">
    <table>
      <thead>
        <tr>
          <th scope="col">Process</th>
          <th scope="col" class="n">Epoch</th>
          <th scope="col">From</th>
          <th scope="col">To</th>
          <th scope="col">Outcome</th>
          <th scope="col">Reason</th>
        </tr>
      </thead>
      <tbody>
        ${all.map(
          ({ by, epoch, startedAt, endedAt, outcome, reason }) =>
            html`<tr>
              <td class="id">${by}</td>
              <td class="n">${epoch}</td>
              <td class="id w">${instant(startedAt)}</td>
              <td class="id w">${instant(endedAt)}</td>
              <td><span class="badge ${toneOf(outcome)}">${runOutcome({ outcome })}</span></td>
              <td>${write.reason(reason)}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`
}

function instant(at: string): string {
  return at.replace('T', ' ').replace(/\.\d+Z$/, 'Z')
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`
}
