import type { RecordReasons } from '../../../reasons/record-reasons.ts'
import { AT, EDGE, EARLIER_RUN, INNER, OLD_IMAGES, READ_AS_OUT, RUN, type SamplesOf, WEB } from './some.ts'

export const records: SamplesOf<RecordReasons> = {
  'record-not-json': [{}],
  'record-edited': [{}],
  'record-newer': [{ version: 9, reads: 1 }],
  'record-needs': [{ needs: ['steps', 'jobs'] }],
  'record-invalid': [{ issues: 'phase: Invalid option' }],
  'record-part-missing': [{ part: 'sluice-run-wgnbiszr2y-2' }],
  'record-in': [
    { place: 'annotation', problem: { code: 'record-edited' } },
    { place: 'condition', problem: { code: 'record-not-json' } },
  ],

  'changes-without-drain': [
    { containers: ['log-agent'], ready: true },
    { containers: ['log-agent', 'metrics'], ready: false },
  ],
  'may-be-drained': [{ entries: [EDGE, INNER] }, { entries: [] }],
  'is-patched': [
    { entries: [EDGE], ready: true },
    { entries: [EDGE], ready: false },
    { entries: [], ready: true },
  ],
  'may-be-put-back': [{ entries: [EDGE, INNER] }, { entries: [] }],
  'nothing-open': [{}],
  'on-way-back': [{ images: OLD_IMAGES }],
  'gone-and-drained': [{ entries: [EDGE] }, { entries: [EDGE, INNER] }],

  'said-of-pod': [
    { traffic: 'in', loadBalancers: [] },
    { traffic: 'out', loadBalancers: ['edge', 'inner'] },
  ],
  'said-of-entries': [
    { traffic: 'in', entries: [EDGE] },
    { traffic: 'out', entries: [EDGE, INNER] },
  ],
  'rest-unsaid': [{ entries: [INNER] }, { entries: [EDGE, INNER] }],

  'said-and-open': [
    { pod: 'web-0', traffic: 'in' },
    { pod: 'web-0', traffic: 'out' },
  ],
  'said-and-closed': [
    { pod: 'web-0', patchedAndUnready: false },
    { pod: 'web-0', patchedAndUnready: true },
  ],
  'said-of-former-pod': [
    { pod: 'web-0', entries: [EDGE], traffic: 'in' },
    { pod: 'web-0', entries: [EDGE, INNER], traffic: 'out' },
  ],

  'not-told': [{}],
  'since-by-run': [
    { run: RUN, outcome: 'upgraded' },
    { run: RUN, outcome: 'failed', because: { code: 'restart-unproven' } },
    { run: RUN, outcome: '', because: { code: 'restart-unproven' } },
  ],
  'at-instant': [{ reason: { code: 'left-as-is' }, at: AT }],
  'end-not-told': [
    { what: 'ended', resolve: true, lostProcess: true },
    { what: 'ended', resolve: false, lostProcess: true },
    { what: 'brought', resolve: false, lostProcess: false },
  ],
  'left-to-person': [{}],
  'report-not-written': [
    { path: 'run.html', said: 'no space left on device' },
    { path: 'run.html', said: 'no space left on device', run: RUN },
  ],
  'closed-since': [{}],
  'nothing-open-at': [{ at: AT }],
  'same-command-goes-on': [{}],
  'nothing-on-record-of': [
    { of: { run: RUN }, namespace: 'shop', unreadable: [] },
    { of: { workload: WEB }, namespace: 'shop', unreadable: [] },
    { of: { workload: WEB }, namespace: 'shop', unreadable: [RUN, EARLIER_RUN] },
  ],
  'at-work-or-silent': [{}],
  'aborted-by': [{ by: 'ann' }],
  'nothing-open-any-more': [{}],
  'since-then': [{ reason: { code: 'nothing-open-any-more' } }],
  'left-open-closed-at': [{ at: AT }],
  'too-long-for-record': [{ of: 'pods' }],
  'phases-joined': [{ phases: 12 }],
  'as-answered': [{}],
  'read-back-as-out': [{}, { because: READ_AS_OUT }],
  'read-back-as-before': [{}, { prior: { state: 'ready', weight: 30 } }],
}
