import { expect, test } from 'vitest'
import { KINDS } from './kinds/index.ts'
import { STATEFUL_SET } from './kinds/stateful-set.ts'
import { knownKind } from './known-kind.ts'

test('a workload of a kind that is not known is refused by its name', () => {
  const workload = { ...STATEFUL_SET, name: 'web', namespace: 'shop' }
  expect(knownKind(KINDS, workload)).toMatchObject({ kind: workload.kind })
  expect(() => knownKind(KINDS, { ...workload, kind: 'CloneSet' })).toThrow(
    expect.objectContaining({ kind: 'invalid', reason: { code: 'unknown-kind', workload: 'cloneset/web' } }),
  )
})
