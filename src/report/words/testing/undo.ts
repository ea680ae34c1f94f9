import type { UndoReasons } from '../../../reasons/undo-reasons.ts'
import { EARLIER_RUN, RUN, type SamplesOf, WEB } from './some.ts'

export const undo: SamplesOf<UndoReasons> = {
  'run-unreadable': [{ run: RUN, problem: { code: 'record-not-json' } }],
  'newest-run-unknown': [{ workloads: [WEB], unreadable: [RUN] }],
  'no-images-before': [{ run: RUN }],
  'nothing-to-undo': [
    { workloads: [WEB], recorded: false },
    { workloads: [WEB, 'daemonset/proxy'], recorded: true },
  ],
  'no-such-run': [
    { run: 'nosuchrun0', workloads: [WEB], known: [RUN, EARLIER_RUN] },
    { run: 'nosuchrun0', workloads: [WEB], known: [] },
  ],
  'undo-the-workload': [{ pod: 'web-0', workloads: [WEB] }],
}
