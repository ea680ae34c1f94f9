import { describe, expect, test } from 'vitest'
import { said } from '../testing/said.ts'
import type { BadEnding } from '../events.ts'
import type { PodContext } from '../../../machines/pod-upgrade/context.ts'
import type { ReadJournal } from '../../pods/glossary.ts'
import { testPod } from '../../pods/testing/raw-pod.ts'
import { podResult } from './pod-result.ts'

const pod = testPod({ name: 'web-0', containers: [{ name: 'app', image: 'app:v1' }] })

const GONE = said('gone')
const LATE = said('late')
const BAD: BadEnding = { outcome: 'rolledBack', reason: said('it crashed'), deadline: 'ready' }
const journal = { run: 'r1', epoch: 2, attempt: 1, step: 'patched', generation: 2, baseline: [], targets: [] } as const

/** Whether a failed pod counts as out, with this last readable journal and this present one. */
function outWith(lastRead: typeof journal | undefined, stored: ReadJournal): boolean {
  const context = {
    pod,
    stored,
    lastRead,
    gone: false,
    outcome: 'failed',
    reason: said(''),
    run: 'r1',
    epoch: 2,
  } as unknown as PodContext
  return podResult(context, { isDone: false, now: { pod, stored }, phases: {} }).traffic === 'out'
}

test('a pod that failed is out, also where somebody has removed its journal meanwhile, or made it unreadable', () => {
  expect(outWith(journal, { kind: 'none' })).toBe(true)
  expect(outWith(journal, { kind: 'unreadable', problem: { code: 'record-not-json' } })).toBe(true)
  expect(outWith(journal, { kind: 'read', journal: { ...journal, baseline: [], targets: [], step: 'closed' } })).toBe(false)
  expect(outWith(undefined, { kind: 'none' })).toBe(false)
})

test('a pod that is home with an open journal is not out, and says so; one that is going says nothing of it', () => {
  const ended = (step: string, change = {}) => {
    const stored = { kind: 'read', journal: { ...journal, step } } as unknown as ReadJournal
    const context = {
      pod,
      stored,
      gone: false,
      outcome: 'failed',
      reason: said(''),
      run: 'r1',
      epoch: 2,
    } as unknown as PodContext
    return podResult(context, { isDone: true, now: { pod: { ...pod, ...change }, stored }, phases: {} })
  }
  expect(ended('restore')).toMatchObject({ traffic: 'asBefore', record: 'unclosed' })
  expect(ended('closed').record).toBe('closed')
  expect(ended('restore', { deleting: true }).record).not.toBe('unclosed')
})

test('a pod that had failed before it went says so, and why', () => {
  const ended = (outcome: string) => {
    const context = { pod, stored: { kind: 'none' }, gone: true, outcome, reason: GONE } as unknown as PodContext
    const now = { pod, stored: { kind: 'none' } } as const
    return podResult(context, { isDone: true, now, phases: {}, badEnd: BAD })
  }
  expect(ended('settled')).toMatchObject({ reason: GONE, before: BAD, deadline: 'ready' })
  expect(ended('needsOperator')).toMatchObject({ reason: GONE, before: BAD })
  expect(ended('rolledBack')).not.toHaveProperty('before')
})

test('who is asked about a pod that is gone is told where the pod in its place is', () => {
  const context = { pod, stored: { kind: 'none' }, gone: true, outcome: 'needsOperator', reason: GONE }
  const adviceOf = (more: object) =>
    podResult({ ...context, ...more } as unknown as PodContext, {
      isDone: false,
      now: { pod, stored: { kind: 'none' } },
      phases: {},
    }).advice
  expect(adviceOf({ heir: { pod: { ...pod, ip: '10.0.0.9' } } })).toContainEqual({
    code: 'point-entries-at-replacement',
    replacementAt: '10.0.0.9',
  })
  expect(adviceOf({ heir: null }), 'control: none has come').toContainEqual({ code: 'point-entries-at-replacement' })
})

/** Whether the pod counts as out for a process of epoch 2 without its Lease, where the owner of `epoch` drained it. */
function outAfter(epoch: number): boolean {
  const stored = { kind: 'read', journal: { ...journal, step: 'drain', epoch } } as unknown as ReadJournal
  const context = {
    pod,
    stored,
    gone: false,
    outcome: 'conflict',
    reason: said(''),
    run: 'r1',
    epoch: 2,
  } as unknown as PodContext
  return podResult(context, { isDone: false, now: { pod, stored }, phases: {} }).traffic === 'out'
}

test('who was overtaken says of its own drains that they are open, and nothing of those of the next owner', () => {
  expect(outAfter(2)).toBe(true)
  expect(outAfter(1)).toBe(true)
  expect(outAfter(3)).toBe(false)
})

test('who is asked about a pod that has come to another address is told where that is, and to say nothing but that it is in', () => {
  const target = {
    loadBalancer: 'edge',
    target: 'web/web-0@10.0.0.1:80',
    scope: 'web',
    prior: { state: 'ready' },
    untouched: false,
  }
  const record = { run: 'r1', epoch: 1, attempt: 1, step: 'patched', baseline: [], targets: [target] }
  const stored = { kind: 'read', journal: record } as unknown as ReadJournal
  const moved = { ...pod, ip: '10.0.0.9' }
  const context = { pod: moved, stored, record, address: '10.0.0.1', gone: false, outcome: 'needsOperator', reason: said('') }
  const { advice } = podResult(context as unknown as PodContext, { isDone: false, now: { pod: moved, stored }, phases: {} })
  expect(advice.slice(-2)).toEqual([
    { code: 'point-entries-at', address: '10.0.0.9' },
    {
      code: 'say-entries-are-right',
      commands: [{ command: 'resolve', pod: 'web-0', namespace: pod.namespace, traffic: 'in' }],
    },
  ])
})

describe('what takes requests again, or not', () => {
  const target = { loadBalancer: 'edge', target: 'web/web-0', scope: 'web', prior: {}, untouched: false }
  interface Given {
    outcome?: string
    isDone?: boolean
    patched?: boolean
    untouched?: boolean
    phases?: object
  }
  function ended({ outcome = 'failed', isDone = true, patched = false, untouched = false, phases = { readmitting: 0 } }: Given) {
    const record = { baseline: [{ name: 'app', image: patched ? 'app:v0' : 'app:v1' }], targets: [{ ...target, untouched }] }
    const context = { pod, stored: { kind: 'none' }, gone: false, outcome, reason: LATE, record } as unknown as PodContext
    return podResult(context, { isDone, now: { pod, stored: { kind: 'none' } }, phases })
  }

  test('a pod that failed and was put back on its old images says so', () => {
    expect(ended({}).reason).toEqual({ code: 'failed-and-put-back', failure: LATE })
    expect(ended({ phases: {} }).reason, 'never drained').toEqual(LATE)
    expect(ended({ isDone: false }).reason, 'still out').toEqual(LATE)
    expect(ended({ patched: true }).reason, 'patched').toEqual(LATE)
    expect(ended({ outcome: 'rolledBack' }).reason, 'says so itself').toEqual(LATE)
  })

  test('one that was rolled back has the command that shows why', () => {
    expect(ended({ outcome: 'rolledBack' }).advice).toEqual([
      {
        code: 'see-why-it-failed',
        commands: [{ command: 'kubectl', namespace: 'shop', args: ['describe', 'pod', 'web-0'] }],
      },
    ])
    expect(ended({}).advice, 'control').toEqual([])
  })

  test('a pod that was upgraded while an operator had it out is out as before', () => {
    expect(ended({ outcome: 'upgraded', untouched: true })).toMatchObject({ traffic: 'operatorOut' })
    expect(ended({ outcome: 'upgraded' }).traffic).toBe('asBefore')
    expect(ended({ untouched: true }).traffic).toBe('asBefore')
  })
})
