import type { WindowReasons } from '../../../reasons/window-reasons.ts'
import { type SamplesOf, TERMINATING, WEB } from './some.ts'

const NONE = { pods: [], lacking: [], counts: [] }

export const window: SamplesOf<WindowReasons> = {
  'window-taken': [
    { ...NONE, size: 1, pods: [{ pod: 'web-0', standing: 'starts' }] },
    {
      ...NONE,
      size: 8,
      pods: [
        { pod: 'web-0', standing: 'upgrading' },
        { pod: 'web-1', standing: 'left' },
        { pod: 'web-2', standing: 'missing' },
        { pod: 'web-3', standing: 'not-ready' },
        { pod: 'web-4', standing: 'not-ready', because: { code: 'node-silent', node: 'node-1' } },
        { pod: 'web-5', standing: 'ready-too-short', because: { code: 'ready-for-too-short' } },
        { pod: 'web-6', standing: 'operator' },
        { pod: 'web-7', standing: 'unserved' },
      ],
    },
    { ...NONE, pods: [{ pod: 'web-0', standing: 'unserved' }] },
    { ...NONE, size: 1, lacking: [{ workload: WEB, pods: 1, leaving: [{ pod: 'web-9', because: TERMINATING }] }] },
    { ...NONE, size: 2, lacking: [{ workload: WEB, pods: 2, leaving: [] }] },
    {
      ...NONE,
      size: 20,
      counts: [
        { standing: 'upgrading', pods: 5 },
        { standing: 'left', pods: 1 },
        { standing: 'missing', pods: 6 },
        { standing: 'not-ready', pods: 1 },
        { standing: 'ready-too-short', pods: 2 },
        { standing: 'operator', pods: 2 },
        { standing: 'unserved', pods: 2 },
        { standing: 'starts', pods: 1 },
      ],
    },
  ],
  'lacks-pods': [
    { workload: WEB, present: 1, desired: 2, leaving: [{ pod: 'web-1', because: TERMINATING }] },
    { workload: WEB, present: 1, desired: 2, leaving: [], countAsOut: true },
  ],
  'window-stalled': [{ because: { code: 'lacks-pods', workload: WEB, present: 1, desired: 2, leaving: [] }, forMs: 600_000 }],
}
