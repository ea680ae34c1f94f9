import { expect, test } from 'vitest'
import type { UnreadableLedger } from '../../journal/ledger.ts'
import type { WorkloadId } from '../../pods/workload-id.ts'
import type { RecordProblem } from '../../reasons/record-reasons.ts'
import { STATEFUL_SET } from '../../workloads/kinds/stateful-set.ts'
import { assertNoneNewer } from './assert-none-newer.ts'

const NEWER: RecordProblem = { code: 'record-newer', version: 2, reads: 1 }
const WEB: WorkloadId = { ...STATEFUL_SET, name: 'web' }

function check(fields: Partial<UnreadableLedger>, refs: readonly WorkloadId[] = [WEB]): void {
  assertNoneNewer([{ kind: 'unreadable', run: 'r1', problem: NEWER, workloads: ['statefulset/web'], ...fields }], refs)
}

test('so does one that needs what this sluice does not know', () => {
  const problem: RecordProblem = { code: 'record-needs', needs: ['steps'] }
  expect(() => check({ problem })).toThrow(expect.objectContaining({ kind: 'preflight' }))
})

test.each([
  { name: 'of the workload', workloads: ['statefulset/web'] },
  { name: 'of that and others', workloads: ['statefulset/api', 'statefulset/web'] },
  { name: 'of which nobody knows the workloads', workloads: [] },
])('the ledger of a newer sluice, $name, refuses the run by its name', ({ workloads }) => {
  expect(() => check({ workloads })).toThrow(
    expect.objectContaining({ kind: 'preflight', reason: { code: 'ledger-of-newer-sluice', run: 'r1', problem: NEWER } }),
  )
})

test.each<[string, Partial<UnreadableLedger>, WorkloadId[]]>([
  ['one of other workloads', { workloads: ['statefulset/api'] }, [WEB]],
  ['one that cannot be read for another reason', { problem: { code: 'record-not-json' } }, [WEB]],
  ['any, where there is no workload', { workloads: [] }, []],
])('control: %s does not', (_, fields, refs) => {
  expect(() => check(fields, refs)).not.toThrow()
})
