import { expect, test } from 'vitest'
import type { ReadJournal } from './glossary.ts'
import { isProvenSpec, provenGeneration } from './proven-spec.ts'

const NONE: ReadJournal = { kind: 'none' }
const closed = (proven?: number): ReadJournal => ({
  kind: 'read',
  journal: { run: 'r', epoch: 1, attempt: 1, step: 'closed', baseline: [], targets: [], ...(proven && { proven }) },
})

test.each([
  ['nobody has changed its spec since it was made', 1, 1, NONE, true],
  ['… and its record says so too', 1, 1, closed(1), true],
  ['an old API server has made it, and its spec was changed for the first time since the drain', 1, 1, closed(), false],
  ['the last upgrade was proven, and nothing has changed since', 4, 4, closed(4), true],
  ['somebody has changed its spec since', 5, 5, closed(4), false],
  ['somebody has changed its spec, and the kubelet has not seen that', 5, 4, closed(4), false],
  ['no record tells of it', 4, 4, NONE, false],
  ['its record cannot be read', 4, 4, { kind: 'unreadable', problem: { code: 'record-not-json' } } as const, false],
  ['its kubelet reports no generation', 1, 0, NONE, false],
  ['… nor does the API server count any', 0, 0, closed(), false],
] as const)('%s', (_what, generation, observedGeneration, stored, is) => {
  expect(isProvenSpec({ generation, observedGeneration }, stored)).toBe(is)
})

test('what a record says counts for more than where generations begin', () => {
  expect(provenGeneration({ generation: 1 }, closed(4))).toBe(4)
})
