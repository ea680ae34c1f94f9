import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Adapter } from '../contract.ts'
import type { MakePartialBed, PartialBed } from './bed.ts'
import { makeMemoryBed } from './beds/memory.ts'
import { conformanceCases } from './cases/index.ts'
import { promises } from './promises.ts'
import { guaranteeShown, type TestedPromise, testPromises } from './test-run.ts'

const OF_SLUICE = [11, 13]

function outcomes(tested: readonly TestedPromise[], outcome: TestedPromise['outcome']): number[] {
  return tested.filter((one) => one.outcome === outcome).map(({ number }) => number)
}

/** The in-memory bed with a changed adapter. */
function changed(wrap: (adapter: Adapter) => Adapter, more: Partial<PartialBed> = {}): MakePartialBed {
  return async (options) => {
    const bed = await makeMemoryBed(options)
    return { ...bed, ...more, adapter: () => wrap(bed.adapter()) }
  }
}

test('a right adapter keeps all promises but those of sluice, and shows its level', async () => {
  const seen: number[] = []
  const tested = await testPromises(makeMemoryBed, { onPromise: ({ number }) => void seen.push(number) })
  expect(outcomes(tested, 'fails')).toEqual([])
  expect(outcomes(tested, 'not-applicable')).toEqual(OF_SLUICE)
  expect(seen).toEqual(Array.from({ length: 21 }, (_, index) => index + 1))
  expect(guaranteeShown('G3', tested)).toEqual({ claimed: 'G3', shown: 'G3' })
})

test('each case runs once, also where two promises rest on it', async () => {
  let beds = 0
  let ran = 0
  const makeBed: MakePartialBed = (options) => {
    beds += 1
    return makeMemoryBed(options)
  }
  await testPromises(makeBed, { afterCase: () => Promise.resolve(void (ran += 1)) })
  expect(ran).toBe(Object.keys(conformanceCases).length)
  // A case with more servers makes a second bed.
  expect(beds).toBe(ran + 1)
})

test('an adapter that is wrong breaks the promises of that, with the reason, and shows no level', async () => {
  const tested = await testPromises(
    changed((adapter) => ({ ...adapter, inspect: () => Promise.reject(new Error('the list is cut')) })),
  )
  expect(outcomes(tested, 'fails')).toEqual(expect.arrayContaining([3, 4, 18]))
  expect(outcomes(tested, 'holds')).toEqual(expect.arrayContaining([2, 16]))
  const { cases } = tested[17]!
  expect(cases).toEqual([expect.objectContaining({ case: 'false-success', outcome: 'failed', message: 'the list is cut' })])
  expect(guaranteeShown('G1', tested)).toEqual({ claimed: 'G1', shown: null })
})

test('values that are not as they should be are in the reason', async () => {
  const tested = await testPromises(changed((adapter) => ({ ...adapter, restore: adapter.drain.bind(adapter) as never })))
  const [drained] = tested[2]!.cases
  expect(drained).toMatchObject({ case: 'drain-and-restore', outcome: 'failed' })
})

test('what a bed lacks is named; a level above G1 needs a late effect that was refused', async () => {
  const tested = await testPromises(changed((adapter) => adapter, { fencing: false }))
  expect(tested[14]!.cases).toContainEqual(
    expect.objectContaining({ case: 'lower-fence', outcome: 'not-applicable', lacks: 'fencing' }),
  )
  expect(guaranteeShown('G3', tested)).toEqual({ claimed: 'G3', shown: 'G1' })
  const read = await testPromises(changed((adapter) => adapter, { readOnly: true }))
  expect(outcomes(read, 'holds')).toEqual([3, 14, 16])
  expect(guaranteeShown('G1', read)).toEqual({ claimed: 'G1', shown: null })
})

test('every case is of a promise, and README.md names the cases of each', () => {
  expect(new Set(promises.flatMap(({ cases }) => cases))).toEqual(new Set(Object.keys(conformanceCases)))
  const readme = readFileSync(join(import.meta.dirname, 'README.md'), 'utf8')
  const rows = [...readme.matchAll(/^\| (\d+) \| .* \| (.*) \|$/gm)]
  expect(rows.map(([, number]) => Number(number))).toEqual(promises.map(({ number }) => number))
  for (const [index, { cases }] of promises.entries()) {
    const named = rows[index]![2]!.match(/[a-z]+(?:-[a-z0-9]+)+|\b(?:batch|refused|absent)\b/g) ?? []
    expect(named, `promise ${index + 1}`).toEqual(expect.arrayContaining([...cases]))
  }
})
