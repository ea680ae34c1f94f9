import { expect, test } from 'vitest'
import { coveredMs, outSpans } from './out-spans.ts'
import type { ReportEffect } from './report.ts'

/** Calls such as `drain a` at 0 and `restore a` at 1000, one each second. */
function effects(...calls: string[]): ReportEffect[] {
  return calls.map((call, second) => {
    const [effect, target, outcome = 'done'] = call.split(' ') as [ReportEffect['effect'], string, ReportEffect['outcome']?]
    const at = new Date(second * 1000).toISOString()
    return {
      at,
      loadBalancer: 'edge',
      target,
      effect,
      operation: '',
      outcome,
      repeated: false,
      batch: 1,
      durationMs: 0,
      evidence: [],
    }
  })
}

function seconds(...calls: string[]) {
  const { spans, isWhole } = outSpans({ effects: effects(...calls) })
  return [...spans.map(({ fromMs, toMs }) => `${fromMs / 1000} to ${toMs / 1000}`), ...(isWhole ? [] : ['?'])]
}

test('from the first drain to the last restore, of all its entries', () => {
  expect(seconds('drain a', 'drain b', 'restore a', 'restore b')).toEqual(['0 to 3'])
  // The load balancer has forgotten the first drain.
  expect(seconds('drain a', 'drain a', 'restore a')).toEqual(['0 to 2'])
  expect(seconds('drain a', 'restore a ambiguous', 'restore a confirmed')).toEqual(['0 to 2'])
})

test('not while it was in rotation between two drains', () => {
  expect(seconds('drain a', 'restore a', 'drain a', 'restore a')).toEqual(['0 to 1', '2 to 3'])
})

test('where a drain or a restore is missing that is said', () => {
  expect(seconds()).toEqual([])
  expect(seconds('restore a')).toEqual(['?'])
  expect(seconds('drain a')).toEqual(['?'])
  expect(seconds('restore a', 'drain a', 'restore a')).toEqual(['1 to 2', '?'])
})

test('what two spans have in common counts once', () => {
  const span = (fromMs: number, toMs: number) => ({ fromMs, toMs })
  expect(coveredMs([span(5, 9), span(0, 4), span(3, 6), span(20, 21)])).toBe(10)
  expect(coveredMs([])).toBe(0)
})
