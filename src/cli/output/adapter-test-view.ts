import type { Left } from '../../../adapters/conformance/beds/live.ts'
import type { TestedCase, TestedGuarantee, TestedPromise } from '../../../adapters/conformance/test-run.ts'
import type { API_VERSION } from './api-version.ts'
import { inert } from './inert.ts'

/** The result of a test of an adapter. Under one apiVersion, fields are added, and never changed or removed. */
export interface AdapterTestReport {
  apiVersion: typeof API_VERSION
  kind: 'AdapterTest'
  /** The name of the load balancer in the config. */
  loadBalancer: string
  /** The name of the adapter in the config. */
  adapter: string
  /** `bed`: a load balancer that was started for the test; `live`: the load balancer of the config. */
  on: 'bed' | 'live'
  /** The promises in order. All 21 are present unless the test was interrupted. */
  promises: TestedPromise[]
  guarantee: TestedGuarantee
  counts: { holds: number; fails: number; notApplicable: number }
  interrupted?: boolean
  /** Targets that the test drained and that are not restored. An operator has to put them back. */
  left: LeftTarget[]
}

export interface LeftTarget {
  /** `ADDRESS:PORT` */
  address: string
  target: string
  /** The prior state, as the adapter keeps it. */
  prior: unknown
  message: string
}

export function leftTarget({ address, target, snapshot, message }: Left): LeftTarget {
  return { address, target: target.id, prior: snapshot.prior, message }
}

export function countsOf(promises: readonly TestedPromise[]): AdapterTestReport['counts'] {
  const count = (outcome: TestedPromise['outcome']): number => promises.filter((one) => one.outcome === outcome).length
  return { holds: count('holds'), fails: count('fails'), notApplicable: count('not-applicable') }
}

const OUTCOMES = { holds: 'holds', fails: 'FAILS', 'not-applicable': 'not applicable' }
const WIDTH = OUTCOMES['not-applicable'].length
const INDENT = ' '.repeat(WIDTH + 6)

export function promiseText(tested: TestedPromise): string {
  const { number, promise, outcome, cases } = tested
  const line = `${String(number).padStart(2)}  ${OUTCOMES[outcome].padEnd(WIDTH)}  ${promise}`
  const own = cases.length === 0 ? [`${INDENT}sluice keeps it, whatever the adapter does`] : []
  return lines([line, ...own, ...failures(cases), ...notTried(cases)])
}

function failures(cases: readonly TestedCase[]): string[] {
  return cases.flatMap(({ case: name, outcome, title, message }) =>
    outcome === 'failed' ? [`${INDENT}${name}: ${title}`, `${INDENT}  ${message}`] : [],
  )
}

/** Lists the cases that were not tried, grouped by the reason. */
function notTried(cases: readonly TestedCase[]): string[] {
  const reasons = Map.groupBy(
    cases.filter(({ outcome }) => outcome === 'not-applicable'),
    ({ message }) => message,
  )
  return [...reasons].map(([message, some]) => `${INDENT}not tried: ${some.map((one) => one.case).join(', ')}: ${message}`)
}

export function guaranteeText({ claimed, shown }: TestedGuarantee, { fails }: AdapterTestReport['counts']): string {
  if (shown === claimed) return lines([`Guarantee: ${shown}.`])
  if (shown !== null)
    return lines([`Guarantee: ${shown}. It says ${claimed}, and no case has shown that a late change is refused.`])
  const why = fails > 0 ? 'promises do not hold' : 'nothing was drained and restored'
  return lines([`Guarantee: none is shown, since ${why}. It says ${claimed}.`])
}

export function countsText({ holds, fails, notApplicable }: AdapterTestReport['counts']): string {
  return lines([`${holds + fails + notApplicable} promises: ${holds} hold, ${fails} fail, ${notApplicable} not applicable`])
}

/** Tells how to put the targets back by hand. */
export function leftText(left: readonly LeftTarget[]): string {
  return lines(
    left.flatMap(({ address, target, prior, message }) => [
      `error: ${address} is not as it was: ${message}`,
      `  put it back at the load balancer: ${target}: ${JSON.stringify(prior)}`,
    ]),
  )
}

function lines(texts: readonly string[]): string {
  return texts.map((text) => `${text.split('\n').map(inert).join(`\n${INDENT}  `)}\n`).join('')
}
