import { expect, test } from 'vitest'
import { createColors } from './color.ts'
import { syncEventLine, syncStatusLines } from './sync-view.ts'
import { writingFor } from '../printed-commands/writing.ts'
import type { SyncEvent, SyncSnapshot } from '../../sync/sync-run.ts'

const write = writingFor({ flags: {}, invocation: { program: 'sluice' } }, {})
const problem = { code: 'source-without', source: 'east', lacks: 'service' } as const
const of = { namespace: 'shop', name: 'web' }

test('the line of a problem ends with its code, and that of another event does not', () => {
  const line = (event: SyncEvent) => syncEventLine(event, 0, write)
  expect(line({ type: 'problem', is: 'begun', namespace: 'shop', service: 'web', problem })).toMatch(
    /^00:00:00\.000 {2}shop\/web: .* \[source-without\]$/,
  )
  expect(line({ type: 'leader', isLeader: true })).not.toContain('[')
})

test('the status names the code of each problem', () => {
  const snapshot: SyncSnapshot = {
    isLeader: false,
    isSettled: true,
    access: { is: 'current', sinceMs: 0 },
    sources: [],
    services: [{ ...of, sources: [], problems: [problem], isPending: false }],
    leftBehind: [],
  }
  expect(syncStatusLines(snapshot, createColors(false), write)).toContainEqual(
    expect.stringMatching(/^ {2}‼ .* \[source-without\]$/),
  )
})
