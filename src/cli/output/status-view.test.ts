import { STATEFUL_SET } from '../../workloads/kinds/stateful-set.ts'
import { expect, test } from 'vitest'
import type { LeaseStatus, PodStatus, RunStatus, StatusReport } from '../../engine/status/status.ts'
import { cleanupLines } from './cleanup-view.ts'
import { createColors } from './color.ts'
import { isOpen, needsOperator, statusDocument, statusLines } from './status-view.ts'

const colors = createColors(false)

const pod: PodStatus = {
  uid: 'u1',
  name: 'web-1',
  state: 'patched',
  run: 'r7',
  attempt: 2,
  out: true,
  detail: 'restarts on r/app:v2',
}
const report: StatusReport = {
  workload: { ...STATEFUL_SET, name: 'web', namespace: 'shop' },
  lease: { holder: 'host_7', epoch: 3, live: false },
  runs: [
    { id: 'r7', request: 'app=r/app:v2', startedAt: '2026-03-01T12:00:00Z', finished: false },
    { id: 'r6', request: 'app=r/app:v1', startedAt: '2026-02-01T12:00:00Z', finished: true },
  ],
  pods: [
    pod,
    { ...pod, name: 'web-0', state: 'closed', out: null, detail: 'done', needsOperator: 'Look at edge:\nshow servers state' },
  ],
}

test('what is open, and what a person has to look at', () => {
  expect(statusLines('shop', { workloads: [report], unreadable: [] }, colors).join('\n'))
    .toBe(`statefulset/web in namespace shop: a person has to look
  held by host_7 (epoch 3, not alive)

  RUN  REQUEST       STARTED               STATE
  r7   app=r/app:v2  2026-03-01T12:00:00Z  open
  r6   app=r/app:v1  2026-02-01T12:00:00Z  finished

  POD    STATE    RUN  ATTEMPT  ROTATION  DETAIL
  web-1  patched  r7   2        out       restarts on r/app:v2
  web-0  closed   r7   2        -         done

  web-0 needs an operator:
    Look at edge:
    show servers state`)
  expect(statusLines('shop', { workloads: [], unreadable: [] }, colors)).toEqual(['No records of sluice in namespace shop.'])
})

test.each([
  { order: 'pause' as const, words: 'paused', state: 'paused' },
  { order: 'abort' as const, words: 'abort ordered', state: 'aborting' },
])('who has ordered a $order', ({ order, words, state }) => {
  const [open, finished] = report.runs as [RunStatus, RunStatus]
  const runs = [
    { ...open, ordered: order },
    { ...finished, abortedBy: 'ann@desk' },
  ]
  const lines = (lease: LeaseStatus): string[] =>
    statusLines(
      'shop',
      { workloads: [{ ...report, lease: { ...lease, order: { order, by: 'bob@desk' } }, runs, pods: [] }], unreadable: [] },
      colors,
    )
  expect(lines({ holder: 'host_7', epoch: 3 })[1]).toBe(`  held by host_7 (epoch 3); ${words} by bob@desk`)
  expect(lines({ epoch: 3 })[1]).toBe(`  held by nobody (epoch 3); ${words} by bob@desk`)
  const states = lines({ epoch: 3 }).filter((line) => /^ {2}r\d/.test(line))
  expect(states.map((line) => line.split(/ +/).at(-1))).toEqual([state, 'aborted'])
})

test('a journal or a run that is not closed is open', () => {
  const closed: StatusReport = { ...report, runs: [report.runs[1]!], pods: [{ ...pod, state: 'closed' }] }
  expect([isOpen(closed), needsOperator(closed)]).toEqual([false, false])
  expect(isOpen({ ...closed, runs: report.runs })).toBe(true)
  expect(isOpen({ ...closed, pods: [pod] })).toBe(true)
  expect(needsOperator(report)).toBe(true)
  expect(statusDocument('shop', { workloads: [closed], unreadable: [] })).toMatchObject({
    kind: 'StatusReport',
    workloads: [{ open: false, needsOperator: false }],
  })
})

test('what a cleanup removes and keeps', () => {
  const removed = [{ kind: 'ConfigMap', name: 'sluice-run-r5', reason: 'finished, not among the newest' }]
  const kept = [{ kind: 'ConfigMap', name: 'sluice-run-r7', reason: 'web-1 is open' }]
  expect(cleanupLines(false, { removed, kept })).toEqual([
    'removed  configmap/sluice-run-r5  finished, not among the newest',
    'kept     configmap/sluice-run-r7  web-1 is open',
  ])
  expect(cleanupLines(true, { removed, kept: [] })).toEqual([
    'would remove  configmap/sluice-run-r5  finished, not among the newest',
  ])
  expect(cleanupLines(false, { removed: [], kept: [] })).toEqual(['Nothing to remove.'])
})

test('a ledger that cannot be read is named, also where nothing else is on record', () => {
  const unreadable = [{ run: 'r9', reason: 'its part sluice-run-r9-1 is missing', needsOperator: 'Look:\n  kubectl' }]
  expect(statusLines('shop', { workloads: [], unreadable }, colors)).toEqual([
    'a person has to look: the ledger of run r9 (ConfigMap sluice-run-r9) cannot be read: its part sluice-run-r9-1 is missing. What it has left open for pods that are gone is not known.',
    '    Look:',
    '      kubectl',
  ])
  expect(statusDocument('shop', { workloads: [], unreadable })).toMatchObject({ workloads: [], unreadable })
})
