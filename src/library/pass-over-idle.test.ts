import { STATEFUL_SET } from '../workloads/kinds/stateful-set.ts'
import { expect, test } from 'vitest'
import type { LedgerHeader, ReadLedger } from '../journal/ledger.ts'
import { passOverIdle } from './pass-over-idle.ts'

const WEB = { ...STATEFUL_SET, name: 'web', uid: 'w' }

/** A finished run without changes, which began at the second of its number; with a pod if the fields say so. */
function ledger(run: string, fields: Partial<LedgerHeader> & { pods?: boolean } = {}): ReadLedger {
  const { pods = false, ...header } = fields
  const startedAt = `2026-01-01T00:00:0${run.at(-1)}.000Z`
  return {
    kind: 'read',
    ledger: {
      header: { run, workloads: [WEB], images: [], startedAt, chunks: 1, finishedAt: startedAt, ...header },
      entries: new Map(pods ? [['u', { uid: 'u', pod: 'web-0', targets: [], state: 'closed' }]] : []),
    },
    places: { chunkOf: new Map(), parts: [] },
  }
}

function passedOver(...found: ReadLedger[]): string[] {
  const passed = passOverIdle(found, WEB)
  const runOf = (one: ReadLedger): string => (one.kind === 'read' ? one.ledger.header.run : one.run)
  expect(passed.left).toEqual(found.filter((one) => !passed.passedOver.includes(runOf(one))))
  return passed.passedOver
}

const release = ledger('r3', { pods: true })

test('the newest that had nothing to do are passed over, and no more', () => {
  expect(passedOver(ledger('r1'), ledger('r5'), release, ledger('r4'))).toEqual(['r5', 'r4'])
  expect(passedOver(ledger('r2', { workloads: [{ ...WEB, templates: [{ of: WEB, images: [] }] }] }), ledger('r4'))).toEqual([
    'r4',
  ])
})

test.each<[string, ReadLedger[]]>([
  ['there is none before it that had', [ledger('r4'), ledger('r2')]],
  ['it is open', [release, ledger('r4', { finishedAt: undefined } as object)]],
  ['it was aborted', [release, ledger('r4', { aborted: { by: 'ann', left: [] } })]],
  ['it is of another workload', [release, ledger('r4', { workloads: [{ ...WEB, name: 'api' }] })]],
  ['it cannot be read', [release, { kind: 'unreadable', run: 'r4', problem: { code: 'record-not-json' }, workloads: [] }]],
])('none is where %s', (_, found) => {
  expect(passedOver(...found)).toEqual([])
})
