import { describe, expect, test } from 'vitest'
import type { PartialBed } from './bed.ts'
import { makeMemoryBed } from './beds/memory.ts'
import { type CaseName, conformanceCases } from './cases/index.ts'
import { describeAdapter, runCase } from './conformance.ts'
import type { Requirement } from './requirements.ts'

describeAdapter({ describe, test }, 'the in-memory load balancer', makeMemoryBed)

/** The optional parts of a bed, and the requirements that give a case access to them. */
const PARTS: Record<'traffic' | 'wire' | 'restart', Requirement[]> = {
  traffic: ['traffic', 'keep-alive', 'health-checks'],
  wire: ['wire'],
  restart: ['restart'],
}

test.each(Object.keys(conformanceCases) as CaseName[])('%s uses no part of a bed that it does not name', async (name) => {
  const needs: readonly Requirement[] = conformanceCases[name].needs ?? []
  const unnamed = (Object.keys(PARTS) as (keyof typeof PARTS)[]).filter((part) => !PARTS[part].some((one) => needs.includes(one)))
  const makeBed = async (options: { servers: number }): Promise<PartialBed> => {
    const bed: PartialBed = await makeMemoryBed(options)
    for (const part of unnamed) delete bed[part]
    return bed
  }
  const whole = await runCase(name, makeMemoryBed)
  expect(await runCase(name, makeBed)).toEqual(whole)
})

test('a bed that may not be drained has the cases that only read, and no effect', async () => {
  const made: PartialBed[] = []
  const makeBed = async (options: { servers: number }): Promise<PartialBed> => {
    const bed = { ...(await makeMemoryBed(options)), readOnly: true }
    made.push(bed)
    return bed
  }
  const passed: string[] = []
  const lacking = new Set<string>()
  for (const name of Object.keys(conformanceCases) as CaseName[]) {
    const ran = await runCase(name, makeBed)
    if (ran.outcome === 'passed') passed.push(name)
    else lacking.add(ran.lacks)
  }
  expect(passed).toEqual(['ports-and-reuse', 'not-found', 'reads-are-stable'])
  expect([...lacking]).toEqual(['drain'])
  expect(made.map(({ wire }) => wire!.effectCalls())).toEqual(made.map(() => 0))
})
