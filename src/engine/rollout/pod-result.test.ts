import { describe, expect, test } from 'vitest'
import type { PodContext } from '../../../machines/pod-upgrade/context.ts'
import type { ReadJournal } from '../../pods/glossary.ts'
import { testPod } from '../../pods/testing/raw-pod.ts'
import { podResult } from './pod-result.ts'

const pod = testPod({ name: 'web-0', containers: [{ name: 'app', image: 'app:v1' }] })

const journal = { run: 'r1', epoch: 2, attempt: 1, step: 'patched', generation: 2, baseline: [], targets: [] } as const

/** Of a pod that failed, where the last journal that could be read was this, and what there is now. */
function outWith(lastRead: typeof journal | undefined, stored: ReadJournal): boolean {
  const context = {
    pod,
    stored,
    lastRead,
    gone: false,
    outcome: 'failed',
    reason: '',
    run: 'r1',
    epoch: 2,
  } as unknown as PodContext
  return podResult(context, { isDone: false, now: { pod, stored }, phases: {} }).out
}

test('a pod that failed is out, also where somebody has removed its journal meanwhile, or made it unreadable', () => {
  expect(outWith(journal, { kind: 'none' })).toBe(true)
  expect(outWith(journal, { kind: 'unreadable', reason: 'it is not JSON' })).toBe(true)
  expect(outWith(journal, { kind: 'read', journal: { ...journal, baseline: [], targets: [], step: 'closed' } })).toBe(false)
  expect(outWith(undefined, { kind: 'none' })).toBe(false)
})

test('a pod that is home with an open journal is not out, and says so; one that is going says nothing of it', () => {
  const ended = (step: string, change = {}) => {
    const stored = { kind: 'read', journal: { ...journal, step } } as unknown as ReadJournal
    const context = { pod, stored, gone: false, outcome: 'failed', reason: '', run: 'r1', epoch: 2 } as unknown as PodContext
    return podResult(context, { isDone: true, now: { pod: { ...pod, ...change }, stored }, phases: {} })
  }
  expect(ended('restore')).toMatchObject({ out: false, unclosed: true })
  expect(ended('closed')).not.toHaveProperty('unclosed')
  expect(ended('restore', { deleting: true })).not.toHaveProperty('unclosed')
})

test('a pod that had failed before it went says so, and why', () => {
  const ended = (outcome: string) => {
    const context = { pod, stored: { kind: 'none' }, gone: true, outcome, reason: 'gone' } as unknown as PodContext
    const now = { pod, stored: { kind: 'none' } } as const
    const badEnd = { outcome: 'rolledBack', reason: 'it crashed', deadline: 'ready' } as const
    return podResult(context, { isDone: true, now, phases: {}, badEnd })
  }
  expect(ended('settled')).toMatchObject({ reason: 'it crashed; gone', hadFailed: 'rolledBack', deadline: 'ready' })
  expect(ended('needsOperator')).toMatchObject({ reason: 'gone', hadFailed: 'rolledBack' })
  expect(ended('rolledBack')).not.toHaveProperty('hadFailed')
})

/** Of a process that has epoch 2 and has lost its Lease, where the pod was drained by the owner of this epoch. */
function outAfter(epoch: number): boolean {
  const stored = { kind: 'read', journal: { ...journal, step: 'drain', epoch } } as unknown as ReadJournal
  const context = { pod, stored, gone: false, outcome: 'conflict', reason: '', run: 'r1', epoch: 2 } as unknown as PodContext
  return podResult(context, { isDone: false, now: { pod, stored }, phases: {} }).out
}

test('who was overtaken says of its own drains that they are open, and nothing of those of the next owner', () => {
  expect(outAfter(2)).toBe(true)
  expect(outAfter(1)).toBe(true)
  expect(outAfter(3)).toBe(false)
})

// Found by reading: it was to be said that it is out, which is refused for such a pod.
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
  const context = { pod: moved, stored, record, address: '10.0.0.1', gone: false, outcome: 'needsOperator', reason: '' }
  const { instructions } = podResult(context as unknown as PodContext, { isDone: false, now: { pod: moved, stored }, phases: {} })
  expect(instructions).toContain('Point the entries at its address now (10.0.0.9), and leave them drained, or remove them')
  expect(instructions).toMatch(/sluice resolve pod\/web-0 -n \S+ --traffic in$/)
  expect(instructions).not.toContain('--traffic out')
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
    const context = { pod, stored: { kind: 'none' }, gone: false, outcome, reason: 'late', record } as unknown as PodContext
    return podResult(context, { isDone, now: { pod, stored: { kind: 'none' } }, phases })
  }

  // Found by a fresh user: it was told how many requests were in flight, and not that the pod took others again.
  test('a pod that failed and was put back on its old images says so', () => {
    expect(ended({}).reason).toBe('late; back in rotation on its old images')
    expect(ended({ phases: {} }).reason, 'never drained').toBe('late')
    expect(ended({ isDone: false }).reason, 'still out').toBe('late')
    expect(ended({ patched: true }).reason, 'patched').toBe('late')
    expect(ended({ outcome: 'rolledBack' }).reason, 'says so itself').toBe('late')
  })

  test('one that was rolled back has the command that shows why', () => {
    expect(ended({ outcome: 'rolledBack' }).instructions).toBe('See why it failed:\n  kubectl -n shop describe pod web-0')
    expect(ended({}).instructions, 'control').toBeUndefined()
  })

  test('a pod that was upgraded while an operator had it out is out as before', () => {
    expect(ended({ outcome: 'upgraded', untouched: true })).toMatchObject({ out: false, outBefore: true })
    expect(ended({ outcome: 'upgraded' })).not.toHaveProperty('outBefore')
    expect(ended({ untouched: true })).not.toHaveProperty('outBefore')
  })
})
