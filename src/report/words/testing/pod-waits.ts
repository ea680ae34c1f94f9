import type { PodWaits } from '../../../reasons/pod-waits.ts'
import { AT, NO_ANSWER, type SamplesOf, WEB } from './some.ts'

export const podWaits: SamplesOf<PodWaits> = {
  'takes-over-record': [{}],
  'tries-again': [{ because: NO_ANSWER }],
  settling: [{}],
  'in-flight': [{ requests: 0 }, { requests: 3 }],
  'kubelet-has-not-seen-patch': [{}, { silentNode: 'node-1' }],
  'container-not-up': [{}],
  'quiet-time': [{ quietMs: 61_000 }],
  'ready-for': [{}, { floorMs: 30_000 }],
  unprobed: [{}],
  'late-call': [{}],
  'not-ready-to-be-put-back': [{}],
  'image-in-doubt': [
    { pod: 'web-0', container: 'app', image: 'registry.example/app:v2', runs: 'registry.example/app:v1', quietMs: 61_000 },
    { pod: 'web-0', container: 'app', image: 'registry.example/app:v2', quietMs: 61_000 },
  ],
  'replacement-not-ready': [{ replacement: 'web-0' }],
  'awaits-end-of-pod': [
    { pod: 'web-0', dueAt: AT, finalizers: [] },
    { pod: 'web-0', dueAt: AT, finalizers: ['example.org/backup'] },
  ],
  'awaits-replacement': [{}, { address: '10.0.0.1' }],
  'replacement-came': [
    { replacement: 'web-0' },
    { replacement: 'web-0', because: { code: 'replacement-not-ready', replacement: 'web-0' } },
  ],
  'awaits-settlement': [{ pod: 'web-2' }],
  'no-further-start': [{}],
  'run-paused': [{ by: 'ann' }],
  'cannot-watch': [{}, { workload: WEB }],
  'looks-anew': [{}, { workload: WEB }],
}
