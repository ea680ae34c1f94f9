/**
 * The conformance kit: checks the promises of every adapter on a real load balancer. The cases use no test framework, so that runners other
 * than vitest can run them too.
 */
import type { Adapter } from '../contract.ts'
import type { Bed, MakePartialBed } from './bed.ts'
import { type CaseName, conformanceCases } from './cases/index.ts'
import { lackOf, type Requirement, requirementWords } from './requirements.ts'
import { wrongAdapters } from './wrong-adapters.ts'

const SERVERS = 3

/** `lacks`: the missing requirement, because of which the case does not apply. */
export type CaseOutcome = { outcome: 'passed' } | { outcome: 'not-applicable'; lacks: Requirement }

/** Runs one case on its own bed. Throws if the adapter breaks the promise. `wrap` can change the adapter before the case uses it. */
export async function runCase(
  name: CaseName,
  makeBed: MakePartialBed,
  wrap: (adapter: Adapter, bed: Bed) => Adapter = (adapter) => adapter,
): Promise<CaseOutcome> {
  if (!Object.hasOwn(conformanceCases, name))
    throw new Error(`There is no case ${name}; there are: ${Object.keys(conformanceCases).join(', ')}`)
  const { servers, needs = [], readsOnly = false, run } = conformanceCases[name]
  let bed = await makeBed({ servers: SERVERS })
  try {
    const lacks = lackOf(readsOnly ? needs : ['drain', ...needs], bed)
    if (lacks !== undefined) return { outcome: 'not-applicable', lacks }
    if (servers !== undefined) {
      const needed = servers(bed.adapter())
      await bed.close()
      bed = await makeBed({ servers: Math.max(SERVERS, needed) })
    }
    // The bed has all parts that the case needs.
    const inner = bed as Bed
    await run({ ...inner, adapter: () => wrap(inner.adapter(), inner) })
    return { outcome: 'passed' }
  } finally {
    await bed.close()
  }
}

/** The part of vitest, or of another test framework, that the kit uses. */
export interface TestFramework {
  describe(name: string, define: () => void): void
  test(name: string, run: (context: { skip(reason: string): void }) => Promise<void>): void
}

/** Defines a test for every case, and one for every wrong adapter, which must fail its case. */
export function describeAdapter({ describe, test }: TestFramework, name: string, makeBed: MakePartialBed): void {
  describe(`${name} keeps the contract`, () => {
    for (const caseName of Object.keys(conformanceCases) as CaseName[]) {
      test(`${caseName}: ${conformanceCases[caseName].title}`, async (context) => {
        const ran = await runCase(caseName, makeBed)
        if (ran.outcome === 'not-applicable') context.skip(requirementWords(ran.lacks))
      })
    }
  })
  describe(`${name}: an adapter fails that`, () => {
    for (const { title, fails, wrap } of wrongAdapters) {
      test(`${title} (${fails})`, async (context) => {
        let ran: CaseOutcome
        try {
          ran = await runCase(fails, makeBed, wrap)
        } catch (error) {
          if (error instanceof Error && error.name === 'AssertionError') return
          throw error
        }
        if (ran.outcome === 'passed') throw new Error(`The case ${fails} passes an adapter that ${title}.`)
        context.skip(requirementWords(ran.lacks))
      })
    }
  })
}
