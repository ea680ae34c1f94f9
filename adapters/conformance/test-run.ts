/** Runs all cases on one load balancer, and says of each promise whether it holds. Needs no test framework. */
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
  /** Why it has failed, or does not apply. */
  message?: string
  /** Why it does not apply: what the load balancer, the adapter or the bed does not have. */
  lacks?: Requirement
}

export interface TestedPromise {
  /** From 1 to 21. */
  number: number
  promise: string
  /** `holds`: at least one case has passed, and none failed. */
  outcome: 'holds' | 'fails' | 'not-applicable'
  /** None where sluice itself keeps the promise, whatever the adapter does. */
  cases: TestedCase[]
}

/** The level that an adapter claims, and the one that the cases have shown: null where they have not. */
export interface TestedGuarantee {
  claimed: GuaranteeLevel
  shown: GuaranteeLevel | null
}

export interface TestRunOptions {
  /** After each case. What it throws ends the run. */
  afterCase?(tested: TestedCase): Promise<void>
  onPromise?(promise: TestedPromise): void
}

/** All promises in order; each case runs once, on a bed of its own. */
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

/** A level is shown where nothing failed, and a target was drained and restored; above G1 a late effect was refused besides. */
export function guaranteeShown(claimed: GuaranteeLevel, tested: readonly TestedPromise[]): TestedGuarantee {
  const passed = (name: CaseName): boolean =>
    tested.some(({ cases }) => cases.some((one) => one.case === name && one.outcome === 'passed'))
  if (tested.some(({ outcome }) => outcome === 'fails') || !passed('drain-and-restore')) return { claimed, shown: null }
  const isAboveG1 = claimed === 'G2' || claimed === 'G3'
  return { claimed, shown: isAboveG1 && !passed('lower-fence') ? 'G1' : claimed }
}

/** Of an assertion without words of its own: the values. */
function messageOf(error: unknown): string {
  if (!(error instanceof AssertionError)) return error instanceof Error ? error.message : String(error)
  if (!error.generatedMessage) return error.message
  return `expected ${shown(error.expected)}, and found ${shown(error.actual)}`
}

function shown(value: unknown): string {
  return value instanceof Set ? JSON.stringify([...value].toSorted()) : (JSON.stringify(value) ?? String(value))
}
