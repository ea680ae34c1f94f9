import type { LegSummary, ObserverFinding, ObserverSummary, Told } from '../../observer/told.ts'
import { worded } from '../../report/words/document.ts'
import {
  changeWords,
  lagWords,
  legTitles,
  observerFindingHint,
  observerFindingMessage,
  observerFindingPage,
} from '../../report/words/observe.ts'
import type { Writing } from '../../report/words/writing.ts'
import { API_VERSION } from './api-version.ts'
import type { Colors } from './color.ts'
import { table } from './columns.ts'
import { formatElapsed } from './elapsed.ts'
import { inert, inertJson } from './inert.ts'

/** The output of an observation: lines of text, or a JSON document a line. */
export interface ObserveView {
  told(told: Told): string[]
  summary(summary: ObserverSummary): string[]
}

/** Returns the writing of the commands of a finding. The commands lead to the cluster of the finding, where it has one. */
export type WritingOf = (cluster: string | undefined) => Writing

/** The view of `observe -o json`, with a JSON document a line. */
export function jsonView(writingOf: WritingOf): ObserveView {
  const write = writingOf(undefined)
  const line = (kind: string, document: object): string => inertJson({ apiVersion: API_VERSION, kind, ...document })
  return {
    told(told) {
      if (told.type !== 'finding') return [line('ObservedChange', worded(told, write) as object)]
      const { at, finding } = told
      // The code of a finding may also be that of a reason, which has other words, so that only the fields are worded.
      const facts = Object.entries(finding).map(([name, fact]) => [name, worded(fact, write)])
      return [
        line('ObserverFinding', {
          at,
          ...(Object.fromEntries(facts) as object),
          message: observerFindingMessage(finding, write),
          hint: hintOf(finding, writingOf),
          page: observerFindingPage(finding),
        }),
      ]
    },
    summary: (summary) => [line('ObserverSummary', summary)],
  }
}

/** Returns the beginning of a line: the cluster, where there are several. */
export function prefixOf(clusters: readonly string[]): (of: object) => string {
  return (of) => (clusters.length > 1 && 'cluster' in of ? `${String(of.cluster)}: ` : '')
}

/** The view of text. Where there are several clusters, each line begins with its cluster. */
export function textView(clusters: readonly string[], colors: Colors, writingOf: WritingOf): ObserveView {
  const write = writingOf(undefined)
  const prefix = prefixOf(clusters)
  return {
    told(told) {
      const at = new Date(told.at).toISOString().slice(11, 23)
      if (told.type !== 'finding') return [`${colors.dim(at)}  ${inert(prefix(told) + changeWords(told, write))}`]
      const { finding } = told
      return [
        `${colors.dim(at)}  ${colors.yellow('‼')} ${inert(prefix(finding) + observerFindingMessage(finding, write))}`,
        ...hintOf(finding, writingOf)
          .split('\n')
          .map((line) => `                ${inert(line)}`),
        colors.dim(`                see ${observerFindingPage(finding)}`),
      ]
    },
    summary({ startedAt, at, legs, findings }) {
      const worst = legs.length <= MOST_ROWS ? legs : legs.toSorted((a, b) => b.p99Ms - a.p99Ms).slice(0, MOST_ROWS)
      const left = legs.length - worst.length
      const rows = worst.map((leg) => [
        inert(`${prefix(leg)}${leg.namespace}/${leg.service}`),
        inert(legWords(leg)),
        String(leg.changes),
        ...[leg.p50Ms, leg.p90Ms, leg.p99Ms, leg.maxMs].map(lagWords),
      ])
      const counted = findings.map(({ code, times }) => `${times} × ${code}`).join(', ')
      return [
        `observed for ${formatElapsed(at - startedAt)}; ${counted === '' ? 'no findings' : counted}`,
        ...(rows.length === 0 ? ['no lag was measured'] : table([HEAD, ...rows], { indent: '  ' })),
        ...(left === 0 ? [] : [`  and ${left} more with shorter lags: -o json has all`]),
      ]
    },
  }
}

function hintOf(finding: ObserverFinding, writingOf: WritingOf): string {
  return observerFindingHint(finding, writingOf('cluster' in finding ? finding.cluster : undefined))
}

/** The most rows of a summary, which has the longest lags. */
const MOST_ROWS = 20

const HEAD = ['service', 'leg', 'changes', 'p50', 'p90', 'p99', 'longest']

export function legWords({ leg, cluster, loadBalancer, from = cluster }: LegSummary): string {
  const source = from === cluster ? '' : ` from ${from}`
  return loadBalancer === undefined ? legTitles[leg] + source : `${legTitles[leg]} ${loadBalancer}`
}
