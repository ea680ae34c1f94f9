import type { AdviceFields, EntryBefore } from '../../../reasons/advice.ts'
import { EDGE, INNER, kubectl, OLD_IMAGES, resolve, resolveGone, type SamplesOf } from './some.ts'

const BEFORE: EntryBefore[] = [
  { ...EDGE, prior: { state: 'ready', weight: 30 } },
  { ...INNER, prior: { state: 'maint', weight: 1 }, untouched: true },
]
const ONE = BEFORE.slice(0, 1)
const look = [kubectl('describe', 'pod', 'web-0')]
const why = [kubectl('describe', 'pod', 'web-0'), kubectl('logs', 'web-0', '-c', 'app', '--previous')]

export const advice: SamplesOf<AdviceFields> = {
  'look-at-entries': [{ entries: BEFORE }],
  'look-at-pod': [{ commands: look }],
  'point-entries-at-replacement': [{}, { replacementAt: '10.0.0.5' }],
  'point-entries-at': [{ address: '10.0.0.9' }],
  'run-again': [{}],
  'say-entries-are-right': [{ commands: [resolveGone('in')] }],
  'say-what-is-seen': [{ commands: [resolve('out'), resolve('in')] }],
  'put-rest-back': [{ commands: [{ ...resolve('in'), loadBalancers: ['inner'] }] }],
  'stays-out': [{ entries: ONE }],
  'see-why': [{ commands: why }],
  'upgrade-to-working-images': [{ former: OLD_IMAGES }],
  'see-why-it-failed': [{ commands: why }],
  'entries-of-replacement': [{ replacement: 'web-0', entries: ONE }],
  'say-how-entries-stand': [{ commands: [resolveGone('in'), resolveGone('out')] }],
  'rest-is-left': [{ entries: [INNER] }, { entries: [EDGE, INNER] }],
  'rest-is-left-of-gone': [
    { entries: [INNER], commands: [resolveGone('in')] },
    { entries: [EDGE, INNER], commands: [resolveGone('in')] },
  ],
  'say-for-unreadable-journal': [
    {
      pod: 'web-0',
      problem: { code: 'record-edited' },
      entries: ONE,
      isOnRecord: true,
      commands: [resolve('out'), resolve('in')],
    },
    { pod: 'web-0', problem: { code: 'record-edited' }, entries: [], isOnRecord: false, commands: [resolve('in')] },
  ],
  'entries-mean-another-address': [
    { pod: 'web-0', entries: [EDGE], address: '10.0.0.9', commands: [resolve('in')] },
    { pod: 'web-0', entries: [EDGE, INNER], commands: [resolve('in')] },
  ],
  'settle-for-gone-pod': [
    { pod: 'web-0', entries: [EDGE], commands: [resolveGone('in')] },
    { pod: 'web-0', entries: [EDGE, INNER], replacementAt: '10.0.0.9', commands: [resolveGone('in')] },
  ],
  'remove-unreadable-record': [{ commands: [kubectl('delete', 'configmap', 'sluice-run-wgnbiszr2y')] }],
}
