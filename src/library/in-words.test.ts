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
    message: 'there is no statefulset/web in namespace shop; check the name, and the namespace',
  })
})

test('a cause is worded too, also that of an error that is not ours', () => {
  const gone = new WorkloadError('not-found', { code: 'no-such-workload', workload: 'statefulset/web', namespace: 'shop' })
  const lost = new Error('not ours', { cause: gone })
  const run = new RunError('preflight', { code: 'not-paused', asked: 'statefulset/web' }, { cause: lost })
  expect(inWords(run)).toBe(run)
  expect(lost.message).toBe('not ours')
  expect(gone.message).toBe('there is no statefulset/web in namespace shop; check the name, and the namespace')
})

test('causes that lead in a circle, or on and on, are not followed for ever', () => {
  const round = new RunError('preflight', { code: 'not-paused', asked: 'statefulset/web' })
  round.cause = new Error('not ours', { cause: round })
  expect(inWords(round)).toMatchObject({ message: 'no run of statefulset/web is paused: nothing to resume' })
  let asked = 0
  class Endless extends Error {
    override get cause(): unknown {
      asked += 1
      return new Endless()
    }
  }
  expect(inWords(new Endless())).toBeInstanceOf(Endless)
  expect(asked).toBeLessThan(100)
})

test('any other is left as it is', () => {
  const other = new TypeError('not ours')
  expect(inWords(other)).toBe(other)
  expect(other.message).toBe('not ours')
  expect(inWords(undefined)).toBe(undefined)
})
