import { expect, test } from 'vitest'
import { buildReport } from './build-report.ts'
import { sampleRecord } from './testing/sample-record.ts'
import { busyMs, outWords } from './report-words.ts'

/** A pod that one process has drained, and another process has put back a minute later. */
function ofTwo() {
  const record = sampleRecord({ pods: 1, window: 1 })
  const pod = record.pods[0]!
  const [account] = pod.accounts
  const { phases, effects, startedAtMs } = account!
  const at = phases.findIndex(({ state }) => state === 'restarting')
  const goneMs = phases.slice(0, at).reduce((sum, { ms }) => sum + ms, 0)
  const first = { ...account!, phases: phases.slice(0, at), effects: effects.slice(0, 1), outcome: 'interrupted', out: true }
  const second = {
    ...account!,
    epoch: 2,
    startedAtMs: startedAtMs + goneMs + 60_000,
    phases: phases.slice(at),
    effects: effects.slice(1).map((one) => ({ ...one, afterMs: one.afterMs - goneMs })),
  }
  const [apart] = buildReport({ ...record, pods: [{ ...pod, accounts: [first, second] }] }).pods
  return { apart: apart!, together: buildReport(record).pods[0]! }
}

test('the time between two processes counts for a pod that was out meanwhile', () => {
  const { apart, together } = ofTwo()
  expect(busyMs(apart) - busyMs(together)).toBe(60_000)
  expect(outWords(apart)).toBe('1m03s')
  expect(busyMs(apart)).toBeGreaterThan(63_000)
})

test('the time between two processes does not count where it was in rotation meanwhile', () => {
  const record = sampleRecord({ pods: 1, window: 1 })
  const pod = record.pods[0]!
  const [account] = pod.accounts
  const accounts = [account!, { ...account!, epoch: 2, startedAtMs: account!.startedAtMs + 3_600_000 }]
  const [once] = buildReport(record).pods
  const [twice] = buildReport({ ...record, pods: [{ ...pod, accounts }] }).pods
  expect([busyMs(twice!), outWords(once!), outWords(twice!)]).toEqual([2 * busyMs(once!), '3.5s', '7.1s'])
})
