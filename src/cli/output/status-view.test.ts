import { STATEFUL_SET } from '../../workloads/kinds/stateful-set.ts'
import { expect, test } from 'vitest'
import type { Command } from '../../reasons/command.ts'
import type { LeaseStatus, NeedsOperator, PodStatus, RunStatus, StatusReport } from '../../engine/status/status.ts'
import { createWriting } from '../../report/words/words.ts'
import { said } from '../testing/samples.ts'
import { cleanupLines } from './cleanup-view.ts'
import { createColors } from './color.ts'
import { isOpen, needsOperator, statusDocument, statusLines } from './status-view.ts'

const colors = createColors(false)
const write = createWriting()

const entry = { loadBalancer: 'edge', target: 'web/web1', prior: 'ready' }
const pod: PodStatus = {
  uid: 'u1',
  name: 'web-1',
  state: 'patched',
  run: 'r7',
  attempt: 2,
  out: true,
  reasons: [{ code: 'is-patched', entries: [entry], ready: false }],
}
const report: StatusReport = {
  workload: { ...STATEFUL_SET, name: 'web', namespace: 'shop' },
  lease: { holder: 'host_7', epoch: 3 },
  runs: [
    { id: 'r7', images: [{ container: 'app', image: 'r/app:v2' }], startedAt: '2026-03-01T12:00:00Z', finished: false },
    { id: 'r6', images: [{ container: 'app', image: 'r/app:v1' }], startedAt: '2026-02-01T12:00:00Z', finished: true },
  ],
  pods: [
    pod,
    {
      ...pod,
      name: 'web-0',
      state: 'closed',
      out: null,
      reasons: [said('done'), said('and checked')],
      needsOperator: { advice: [{ code: 'look-at-entries', entries: [entry] }] },
    },
    { ...pod, name: 'web-2', reasons: [], needsOperator: { reason: said('nobody can tell'), advice: [] } },
  ],
}

test('what is open, and what a person has to look at', () => {
  expect(statusLines('shop', { workloads: [report], unreadable: [] }, colors, write).join('\n'))
    .toBe(`statefulset/web in namespace shop: a person has to look
  held by host_7 (epoch 3)

  RUN  REQUEST       STARTED               STATE
  r7   app=r/app:v2  2026-03-01T12:00:00Z  open
  r6   app=r/app:v1  2026-02-01T12:00:00Z  finished

  POD    STATE    RUN  ATTEMPT  ROTATION  DETAIL
  web-1  patched  r7   2        out       patched and out of rotation: edge: web/web1; not ready
  web-0  closed   r7   2        -         done; and checked
  web-2  patched  r7   2        out

  web-0 needs an operator:
    Look at these entries; before the drain they were as given:
      edge: web/web1, was "ready"

  web-2 needs an operator:
    nobody can tell`)
  expect(statusLines('shop', { workloads: [], unreadable: [] }, colors, write)).toEqual([
    'No records of sluice in namespace shop.',
  ])
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
      write,
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
  expect(statusDocument('shop', { workloads: [closed], unreadable: [] }, write)).toMatchObject({
    kind: 'StatusReport',
    workloads: [{ open: false, needsOperator: false }],
  })
})

test('what a cleanup removes and keeps', () => {
  const finished = { code: 'run-finished', run: 'r5', at: '2026-02-01T12:00:00Z', undo: 'no-more' } as const
  const open = { code: 'run-has-open-pods', run: 'r7', pods: 1 } as const
  const removed = [{ kind: 'ConfigMap', name: 'sluice-run-r5', reason: finished }]
  const kept = [{ kind: 'ConfigMap', name: 'sluice-run-r7', reason: open }]
  expect(cleanupLines(false, { removed, kept }, write)).toEqual([
    'removed  configmap/sluice-run-r5  run r5 finished at 2026-02-01T12:00:00Z; it cannot be undone any more',
    'kept     configmap/sluice-run-r7  run r7 is not finished: 1 pod may be open',
  ])
  expect(cleanupLines(true, { removed, kept: [] }, write)).toEqual([
    'would remove  configmap/sluice-run-r5  run r5 finished at 2026-02-01T12:00:00Z; it cannot be undone any more',
  ])
  expect(cleanupLines(false, { removed: [], kept: [] }, write)).toEqual(['Nothing to remove.'])
})

test('a ledger that cannot be read is named, also where nothing else is on record', () => {
  const look: Command = { command: 'kubectl', namespace: 'shop', args: ['get', 'configmap', 'sluice-run-r9'] }
  const needsPerson: NeedsOperator = { advice: [{ code: 'look-at-pod', commands: [look] }] }
  const unreadable = [{ run: 'r9', problem: said('its part sluice-run-r9-1 is missing'), needsOperator: needsPerson }]
  expect(statusLines('shop', { workloads: [], unreadable }, colors, write)).toEqual([
    'a person has to look: the ledger of run r9 (ConfigMap sluice-run-r9) cannot be read: its part sluice-run-r9-1 is missing. What it has left open for pods that are gone is not known.',
    '    Look at the pod:',
    '      kubectl -n shop get configmap sluice-run-r9',
  ])
  expect(statusDocument('shop', { workloads: [], unreadable }, write)).toMatchObject({
    workloads: [],
    unreadable: [
      {
        run: 'r9',
        problem: { code: 'error', message: 'its part sluice-run-r9-1 is missing' },
        needsOperator: { advice: [{ commands: [{ ...look, shell: 'kubectl -n shop get configmap sluice-run-r9' }] }] },
      },
    ],
  })
})
