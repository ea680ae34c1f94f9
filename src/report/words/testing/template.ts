import type { TemplateReasons } from '../../../reasons/template-reasons.ts'
import { FORBIDDEN, NO_ANSWER, type SamplesOf, WEB } from './some.ts'

const IMAGE = 'spec.template.spec.containers[app].image'
const differences = [{ path: IMAGE, before: 'registry.example/app:v1', after: 'registry.example/app:v3' }]
const generation = { kind: 'StatefulSet', generation: 2, observed: 1 }
const newest = { name: 'web-6c694d4cbf', differences }

export const template: SamplesOf<TemplateReasons> = {
  'workload-deleted': [{ workload: WEB }],
  'workload-going': [{ workload: WEB }],
  'strategy-changed': [{ workload: WEB, now: 'RollingUpdate', expected: 'OnDelete' }],
  'template-changed': [{ workload: WEB, differences }],
  'template-stored-otherwise': [{}, { because: { code: 'template-changed', workload: WEB, differences } }],
  'template-refused': [{ workload: WEB }, { workload: WEB, because: FORBIDDEN }],
  'template-not-in-time': [
    { workload: WEB, deadlineMs: 60_000, waiting: { code: 'awaits-template-write' }, because: NO_ANSWER },
    { workload: WEB, deadlineMs: 60_000, waiting: { code: 'awaits-generation', ...generation } },
    { workload: WEB, deadlineMs: 60_000, waiting: { code: 'awaits-revision', newest } },
  ],
  'awaits-template-write': [{}],
  'awaits-generation': [generation],
  'awaits-revision': [{}, { newest }],
  'revision-is-another': [{ workload: WEB, revision: 'web-6c694d4cbf', differences }],
  'template-patched': [{}],
  'pods-take-revision': [{ revision: 'web-6c694d4cbf' }],
  'fence-not-set': [{}, { because: FORBIDDEN }],
  'owner-changed': [{ workload: WEB }],
  'template-left': [{ workload: WEB }, { workload: WEB, because: NO_ANSWER }],
  'template-edited': [{ workload: WEB, container: 'app', image: 'registry.example/app:v9' }],
  'no-former-image': [{ workload: WEB, container: 'app' }],
  'not-prepared': [{ workload: WEB }],
  'unknown-kind': [{ workload: 'cloneset/web' }],
  'no-such-workload': [{ workload: 'statefulset/wbe', namespace: 'shop' }],
  'not-allowed': [{ verbs: ['list', 'watch'], resource: 'statefulsets.apps', namespace: 'shop' }],
  'refused-by-api-server': [{}, { because: FORBIDDEN }],
}
