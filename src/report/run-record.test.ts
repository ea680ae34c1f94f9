import { expect, test } from 'vitest'
import type { LedgerHeader } from '../journal/ledger.ts'
import { entryOf } from '../engine/testing/ledgers.ts'
import { recordOfLedger } from './run-record.ts'

test('what was left out is no closed one, until somebody has said how it stands', () => {
  const header: LedgerHeader = { run: 'r1', workloads: [], images: [], startedAt: '2026-01-01T00:00:00Z', chunks: 1 }
  const isClosed = (leftOut: { leftOut?: true }): boolean | undefined => {
    const entry = entryOf('web-2', { state: 'closed', ...leftOut })
    return recordOfLedger({ header, entries: new Map([[entry.uid, entry]]) }, 'shop').pods[0]?.isClosed
  }
  expect(isClosed({})).toBe(true)
  expect(isClosed({ leftOut: true })).toBeUndefined()
})

test('of a pod that a run has left to a person no process has told: the record says why', () => {
  const header: LedgerHeader = { run: 'r1', workloads: [], images: [], startedAt: '2026-01-01T00:00:00Z', chunks: 1 }
  const untold = (state: 'abandoned' | 'open') => {
    const entry = entryOf('web-2', { state })
    return recordOfLedger({ header, entries: new Map([[entry.uid, entry]]) }, 'shop').pods[0]?.untold
  }
  expect(untold('abandoned')).toEqual({ outcome: 'needsOperator', reason: { code: 'left-to-person' } })
  expect(untold('open'), 'control').toBeUndefined()
})
