import type { CleanupReasons } from '../../../reasons/cleanup-reasons.ts'
import { AT, EARLIER_RUN, HOLDER, LEASE, RUN, type SamplesOf, WEB } from './some.ts'

export const cleanup: SamplesOf<CleanupReasons> = {
  'record-unreadable': [{ problem: { code: 'record-newer', version: 9, reads: 1 } }],
  'workload-gone-for-good': [
    { run: RUN, workloads: [WEB] },
    { run: RUN, workloads: [WEB, 'daemonset/proxy'] },
  ],
  'run-not-finished': [{ run: RUN }],
  'run-at-work': [
    { run: RUN, holder: HOLDER, lease: LEASE },
    { run: RUN, holder: '', lease: LEASE },
  ],
  'run-has-open-pods': [
    { run: RUN, pods: 1 },
    { run: RUN, pods: 2 },
  ],
  'run-needed': [
    { run: RUN, finished: true, by: { need: 'journal' } },
    { run: RUN, finished: true, by: { need: 'undo', run: EARLIER_RUN } },
    { run: RUN, finished: false, by: { need: 'settled', run: EARLIER_RUN } },
    { run: RUN, finished: true, by: { need: 'shared', run: EARLIER_RUN } },
    { run: RUN, finished: true, by: { need: 'workloads', workloads: ['statefulset/api'] } },
  ],
  'run-finished': [
    { run: RUN, at: AT, undo: 'never' },
    { run: RUN, at: AT, undo: 'not-then' },
    { run: RUN, at: AT, undo: 'no-more' },
  ],
  'part-without-ledger': [{ mayBegin: true }, { mayBegin: false }],
  'written-meanwhile': [{}],
}
