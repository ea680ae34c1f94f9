import { expect, test } from 'vitest'
import { RunError } from '../engine/errors.ts'
import { WorkloadError } from '../workloads/errors.ts'
import { inWords } from './in-words.ts'

test('an error of the engine leaves the library with its reason in English, and as data', () => {
  const run = new RunError('preflight', { code: 'not-paused', asked: 'statefulset/web' })
  expect(run.message).toBe('not-paused')
  expect(inWords(run)).toBe(run)
  expect(run).toMatchObject({
    message: 'no run of statefulset/web is paused: nothing to resume',
    reason: { code: 'not-paused', asked: 'statefulset/web' },
  })
  const gone = new WorkloadError('not-found', { code: 'no-such-workload', workload: 'statefulset/web', namespace: 'shop' })
  expect(inWords(gone)).toMatchObject({
    message: 'there is no statefulset/web in namespace shop; check the name, and the namespace (-n)',
  })
})

test('any other is left as it is', () => {
  const other = new TypeError('not ours')
  expect(inWords(other)).toBe(other)
  expect(other.message).toBe('not ours')
  expect(inWords(undefined)).toBe(undefined)
})
