/** Runs all cases on one load balancer, and reports for each promise whether it holds. Needs no test framework. */
import { AssertionError } from 'node:assert'
import type { GuaranteeLevel } from '../contract.ts'
import type { MakePartialBed } from './bed.ts'
import { type CaseName, conformanceCases } from './cases/index.ts'
import { runCase } from './conformance.ts'
import { type ConformancePromise, promises } from './promises.ts'
import { type Requirement, requirementWords } from './requirements.ts'

export interface TestedCase {
  case: CaseName
  title: string
  outcome: 'passed' | 'failed' | 'not-applicable'
  /** The reason why the case failed or does not apply. */
  message?: string
  /** The requirement that the load balancer, the adapter or the bed does not meet. Present only if the case does not apply. */
  lacks?: Requirement
}

export interface TestedPromise {
  /** The number of the promise, from 1 to 21. */
  number: number
  promise: string
  /** `holds`: at least one case passed, and none failed. */
  outcome: 'holds' | 'fails' | 'not-applicable'
  /** The cases. Empty if sluice itself keeps the promise for every adapter. */
  cases: TestedCase[]
}

/** The level that the adapter claims, and the level that the cases have shown. Null if they have shown none. */
export interface TestedGuarantee {
  claimed: GuaranteeLevel
  shown: GuaranteeLevel | null
}

export interface TestRunOptions {
  /** Runs after each case. An error from it ends the run. */
  afterCase?(tested: TestedCase): Promise<void>
  onPromise?(promise: TestedPromise): void
}

/** Tests all promises in order. Each case runs once, on its own bed. */
export async function testPromises(
  makeBed: MakePartialBed,
  { afterCase, onPromise }: TestRunOptions = {},
): Promise<TestedPromise[]> {
  const known = new Map<CaseName, TestedCase>()
  const all: TestedPromise[] = []
  for (const promise of promises) {
    for (const name of promise.cases) {
      if (known.has(name)) continue
      const tested = await testCase(name, makeBed)
      known.set(name, tested)
      await afterCase?.(tested)
    }
    const of = testedPromise(
      promise,
      promise.cases.map((name) => known.get(name)!),
    )
    onPromise?.(of)
    all.push(of)
  }
  return all
}

async function testCase(name: CaseName, makeBed: MakePartialBed): Promise<TestedCase> {
  const about = { case: name, title: conformanceCases[name].title }
  try {
    const ran = await runCase(name, makeBed)
    return { ...about, ...ran, ...(ran.outcome === 'passed' ? {} : { message: requirementWords(ran.lacks) }) }
  } catch (error) {
    return { ...about, outcome: 'failed', message: messageOf(error) }
  }
}

function testedPromise({ number, title }: ConformancePromise, cases: TestedCase[]): TestedPromise {
  const has = (outcome: TestedCase['outcome']): boolean => cases.some((one) => one.outcome === outcome)
  return { number, promise: title, outcome: has('failed') ? 'fails' : has('passed') ? 'holds' : 'not-applicable', cases }
}

/**
 * The level is shown if no promise fails and a target was drained and restored. A level above G1 also needs that the load balancer refused
 * a late effect.
 */
export function guaranteeShown(claimed: GuaranteeLevel, tested: readonly TestedPromise[]): TestedGuarantee {
  const passed = (name: CaseName): boolean =>
    tested.some(({ cases }) => cases.some((one) => one.case === name && one.outcome === 'passed'))
  if (tested.some(({ outcome }) => outcome === 'fails') || !passed('drain-and-restore')) return { claimed, shown: null }
  const isAboveG1 = claimed === 'G2' || claimed === 'G3'
  return { claimed, shown: isAboveG1 && !passed('lower-fence') ? 'G1' : claimed }
}

/** The message of the error. An assertion without its own message gives the expected and the actual value. */
function messageOf(error: unknown): string {
  if (!(error instanceof AssertionError)) return error instanceof Error ? error.message : String(error)
  if (!error.generatedMessage) return error.message
  return `expected ${shown(error.expected)}, and found ${shown(error.actual)}`
}

function shown(value: unknown): string {
  return value instanceof Set ? JSON.stringify([...value].toSorted()) : (JSON.stringify(value) ?? String(value))
}
