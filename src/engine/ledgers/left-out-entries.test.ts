import { expect, test } from 'vitest'
import { testTarget } from '../../journal/testing/journals.ts'
import { entryOf } from '../testing/ledgers.ts'
import { leftOutEntries } from './left-out-entries.ts'

test('what was drained for a pod, and left so; not what an operator had out before', () => {
  const entries = [
    entryOf('web-0', { state: 'closed', leftOut: true }),
    entryOf('web-1', { state: 'closed' }),
    entryOf('web-2', { state: 'closed', leftOut: true, targets: [testTarget({ untouched: true })] }),
  ]
  const left = leftOutEntries({ entries: new Map(entries.map((entry) => [entry.uid, entry])) })
  expect(left.map(({ pod }) => pod)).toEqual(['web-0'])
})
