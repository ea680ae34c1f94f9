/**
 * The conformance kit: what every adapter promises, checked on a real load balancer. The cases use no test
 * framework, so that other runners than vitest can run them too.
 */
import type { Adapter } from '../contract.ts'
import type { Bed, MakeBed } from './bed.ts'
import { type CaseName, conformanceCases } from './cases/index.ts'
import { wrongAdapters } from './wrong-adapters.ts'

const SERVERS = 3

export type CaseOutcome = 'passed' | 'does not apply'

/** Runs one case on a bed of its own; throws where the promise is broken. `wrap` stands between kit and adapter. */
export async function runCase(
  name: CaseName,
  makeBed: MakeBed,
  wrap: (adapter: Adapter, bed: Bed) => Adapter = (adapter) => adapter,
): Promise<CaseOutcome> {
  if (!Object.hasOwn(conformanceCases, name))
    throw new Error(`There is no case ${name}; there are: ${Object.keys(conformanceCases).join(', ')}`)
  const { servers, needs, run } = conformanceCases[name]
  let bed = await makeBed({ servers: SERVERS })
  try {
    if (needs?.(bed) === false) return 'does not apply'
    if (servers !== undefined) {
      const needed = servers(bed.adapter())
      await bed.close()
      bed = await makeBed({ servers: Math.max(SERVERS, needed) })
    }
    const inner = bed
    await run({ ...inner, adapter: () => wrap(inner.adapter(), inner) })
    return 'passed'
  } finally {
    await bed.close()
  }
}

function whySkipped(name: CaseName): string {
  return conformanceCases[name].skipped ?? 'the load balancer does not offer this'
}

/** The part of vitest, or of another framework, that the kit needs. */
export interface TestFramework {
  describe(name: string, define: () => void): void
  test(name: string, run: (context: { skip(reason: string): void }) => Promise<void>): void
}

/** Every case, and every wrong adapter, which must fail its case. */
export function describeAdapter({ describe, test }: TestFramework, name: string, makeBed: MakeBed): void {
  describe(`${name} keeps the contract`, () => {
    for (const caseName of Object.keys(conformanceCases) as CaseName[]) {
      test(`${caseName}: ${conformanceCases[caseName].title}`, async (context) => {
        if ((await runCase(caseName, makeBed)) === 'does not apply') context.skip(whySkipped(caseName))
      })
    }
  })
  describe(`${name}: an adapter fails that`, () => {
    for (const { title, fails, wrap } of wrongAdapters) {
      test(`${title} (${fails})`, async (context) => {
        let outcome: CaseOutcome
        try {
          outcome = await runCase(fails, makeBed, wrap)
        } catch (error) {
          if (error instanceof Error && error.name === 'AssertionError') return
          throw error
        }
        if (outcome === 'passed') throw new Error(`The case ${fails} passes an adapter that ${title}.`)
        context.skip(whySkipped(fails))
      })
    }
  })
}
