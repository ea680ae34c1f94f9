import { describe, expect, test } from 'vitest'
import type { Journal } from '../pods/glossary.ts'
import { testTarget } from './testing/journals.ts'
import { withWord } from './word.ts'

const edge = testTarget()
const inner = testTarget({ loadBalancer: 'inner', target: 'lb/web-0' })
const spare = testTarget({ loadBalancer: 'spare', untouched: true })

function journal(step: Journal['step'], generation?: number): Journal {
  const patched = generation === undefined ? {} : { generation }
  return { run: 'r', epoch: 3, attempt: 2, step, baseline: [], targets: [edge, inner, spare], ...patched }
}

const all = { loadBalancers: [] }

describe('in', () => {
  test.each(['drain', 'patched', 'restore'] as const)('everywhere closes a record at %s', (step) => {
    expect(withWord(journal(step), { traffic: 'in', ...all })).toMatchObject({
      ok: true,
      journal: { step: 'closed', attempt: 2 },
    })
  })

  test('in one of two leaves the other to be restored; then in that one closes it', () => {
    const first = withWord(journal('restore'), { traffic: 'in', loadBalancers: ['edge'] })
    if (!first.ok) throw new Error(first.code)
    expect(first.journal).toMatchObject({ step: 'restore', targets: [{ ...edge, said: 'in' }, inner, spare] })
    const second = withWord(first.journal, { traffic: 'in', loadBalancers: ['inner'] })
    expect(second).toMatchObject({ ok: true, journal: { step: 'closed' } })
  })

  test.each(['drain', 'patched'] as const)(
    'in one of two is refused at %s: a pod that takes requests is never patched',
    (step) => {
      const word = { traffic: 'in', loadBalancers: ['edge'] } as const
      expect(withWord(journal(step), word)).toEqual({ ok: false, code: 'say-of-rest-too', loadBalancers: ['inner'] })
    },
  )

  test('in both by their names closes it: one that an operator had out before is none of sluice', () => {
    const word = { traffic: 'in', loadBalancers: ['edge', 'inner'] } as const
    expect(withWord(journal('patched'), word)).toMatchObject({ ok: true, journal: { step: 'closed' } })
  })
})

describe('out', () => {
  test('is kept with what was meant, and with nothing that an operator had out before', () => {
    const said = { ...edge, said: 'out' }
    const word = { traffic: 'out', loadBalancers: ['edge'] } as const
    expect(withWord(journal('drain'), word)).toEqual({
      ok: true,
      journal: { ...journal('drain'), targets: [said, inner, spare] },
    })
    expect(withWord(journal('drain'), { traffic: 'out', ...all })).toMatchObject({
      journal: { targets: [said, { ...inner, said: 'out' }, spare] },
    })
  })

  test('of one after another is said to be in: refused, it would be patched while it takes requests there', () => {
    const told = { ...journal('restore', 4), targets: [{ ...edge, said: 'in' as const }, inner, spare] }
    const word = { traffic: 'out', loadBalancers: ['inner'] } as const
    expect(withWord(told, word)).toEqual({ ok: false, code: 'said-in-before', loadBalancers: ['edge'] })
  })

  test.each([
    [undefined, 'drain'],
    [4, 'patched'],
  ] as const)('after a restore was begun it is a new attempt (generation %s): %s', (generation, step) => {
    const result = withWord(journal('restore', generation), { traffic: 'out', ...all })
    expect(result).toMatchObject({ ok: true, journal: { step, attempt: 3 } })
  })
})
