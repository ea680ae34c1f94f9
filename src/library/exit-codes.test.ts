import { expect, test } from 'vitest'
import type { RunOutcome } from '../engine/events.ts'
import { EXIT, exitCodeOf, exitCodeOfSignal } from './exit-codes.ts'

test('pipelines rely on these numbers', () => {
  expect(EXIT).toEqual({
    done: 0,
    failed: 1,
    usage: 2,
    preflight: 3,
    deadline: 4,
    paused: 5,
    aborted: 6,
    conflict: 7,
    needsOperator: 8,
    interrupted: 130,
    terminated: 143,
  })
})

test.each<[RunOutcome, number]>([
  ['done', 0],
  ['failed', 1],
  ['rolledBack', 6],
  ['refused', 3],
  ['deadline', 4],
  ['paused', 5],
  ['aborted', 6],
  ['conflict', 7],
  ['needsOperator', 8],
])('a run that ends %s exits with %i, interrupted or not', (outcome, code) => {
  expect(exitCodeOf({ outcome })).toBe(code)
  expect(exitCodeOf({ outcome }, 'SIGINT')).toBe(code)
})

test('an interrupted run exits by its signal, and as failed where sluice itself was the reason', () => {
  expect(exitCodeOf({ outcome: 'interrupted' }, 'SIGINT')).toBe(130)
  expect(exitCodeOf({ outcome: 'interrupted' }, 'SIGTERM')).toBe(143)
  expect(exitCodeOf({ outcome: 'interrupted' })).toBe(1)
})

test('a hangup counts as SIGTERM', () => {
  expect(exitCodeOfSignal('SIGHUP')).toBe(143)
})
