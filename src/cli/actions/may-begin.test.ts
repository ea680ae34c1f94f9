import { expect, test } from 'vitest'
import { mayBegin } from './may-begin.ts'

test('who has the Lease may begin a run, and where nobody has it that is not said', () => {
  const words = '; ci-7_1_abc has the Lease, and may be about to begin one: then the same command once more'
  expect(mayBegin({ holder: 'ci-7_1_abc' })).toBe(words)
  expect(mayBegin({})).toBe('')
})
