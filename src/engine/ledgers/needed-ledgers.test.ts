import { STATEFUL_SET } from '../../workloads/kinds/stateful-set.ts'
import { expect, test } from 'vitest'
import type { Ledger, LedgerHeader } from '../../journal/ledger.ts'
import { needFor } from './needed-ledgers.ts'
import { entryOf } from '../testing/ledgers.ts'

function ledger(run: string, pods: string[], header: Partial<LedgerHeader> = {}): Ledger {
  const entries = new Map(pods.map((pod) => [`uid of ${pod}`, entryOf(pod)]))
  return { header: { run, workloads: [], images: [], startedAt: run, chunks: 1, ...header }, entries }
}

const release = ledger('r2', ['web-0'], { finishedAt: 'then' })
const ended = { finishedAt: 'then' }

test('an undo that was killed goes on by the record of the run that it takes back', () => {
  expect(needFor(release, [release, ledger('r3', [], { undoes: 'r2' })])).toEqual({ need: 'undo', run: 'r3' })
  expect(needFor(release, [release, ledger('r3', [], { undoes: 'r2', ...ended })])).toBeUndefined()
})

test('what it has settled of a run before it would be open again', () => {
  const before = ledger('r1', ['web-0', 'api-0'])
  expect(needFor(release, [release, before])).toEqual({ need: 'settled', run: 'r1' })
  expect(needFor(release, [release, ledger('r1', ['api-0'])])).toBeUndefined()
  expect(needFor(release, [release, before, ledger('r3', ['web-0'], ended)])).toBeUndefined()
})

test('what has gone on with part of a run of several workloads: that would wait for another to do so', () => {
  const [web, api] = ['web', 'api'].map((name) => ({ ...STATEFUL_SET, name, uid: name }))
  const both = ledger('r1', [], { workloads: [web!, api!] })
  const part = ledger('r2', [], { workloads: [web!], ...ended })
  expect(needFor(part, [both, part])).toEqual({ need: 'shared', run: 'r1' })
  expect(needFor(part, [both, part, { ...part, header: { ...part.header, run: 'r3' } }]), 'one is enough').toBeUndefined()
  const some = { ...part, header: { ...part.header, part: true as const } }
  expect(needFor(some, [both, some]), 'it was about some of its pods: that waits for another in any case').toBeUndefined()
  expect(needFor(part, [ledger('r1', [], { workloads: [web!] }), part]), 'control: of that one alone').toBeUndefined()
  expect(needFor(part, [{ ...both, header: { ...both.header, ...ended } }, part]), 'control: it is finished').toBeUndefined()
})
