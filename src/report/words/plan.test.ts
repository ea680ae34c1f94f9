import { expect, test } from 'vitest'
import type { Reason, ReasonOf } from '../../reasons/reason.ts'
import { reasonWords } from './words.ts'

const NO_ENTRY: ReasonOf<'no-entry-at'> = { code: 'no-entry-at', loadBalancer: 'edge', addresses: ['10.0.0.1:80'] }
const IN: ReasonOf<'to-upgrade'> = { code: 'to-upgrade', rotation: 'in', lookedFor: [], waitsForNode: false }
const ELSEWHERE = { code: 'not-found', loadBalancer: 'edge', said: 'no server has the address 10.0.0.9' } as const

test.each<[Reason, string]>([
  [IN, 'in rotation'],
  [{ ...IN, standing: { code: 'pod-not-ready' } }, 'in rotation, and not ready'],
  [{ ...IN, rotation: 'operator' }, 'an operator has it out of rotation: it is left exactly so'],
  [{ ...IN, rotation: 'none', lookedFor: [NO_ENTRY] }, 'edge has no entry at 10.0.0.1:80: no drain'],
  [{ ...IN, lookedFor: [NO_ENTRY] }, 'in rotation; edge has no entry at 10.0.0.1:80: no drain there'],
  [{ code: 'goes-on-with-patch' }, 'an earlier run has drained it: goes on with the patch'],
  [{ code: 'goes-on-from-patch' }, 'an earlier run has patched it: goes on from there'],
  [{ code: 'goes-on-with-restore' }, 'an earlier run was putting it back: goes on from there'],
  [
    { code: 'goes-on-with-rollback', images: [{ container: 'app', image: 'app:v1' }] },
    'an earlier run is rolling it back to app=app:v1: the same request ends that, another goes on to its own images',
  ],
  [
    { code: 'not-in-every-load-balancer', pod: 'web-0', stays: false, because: ELSEWHERE },
    'pod/web-0 runs these images already, and is not in every load balancer: edge: no server has the address 10.0.0.9',
  ],
  [
    { code: 'not-in-every-load-balancer', pod: 'web-0', stays: true, because: ELSEWHERE },
    'pod/web-0 stays as it is, and is not in every load balancer: edge: no server has the address 10.0.0.9',
  ],
  [
    {
      code: 'template-unchanged',
      owner: 'deployment/web',
      made: 'ReplicaSet',
      by: 'Deployment',
      images: [{ container: 'app', image: 'app:v1' }],
    },
    'deployment/web: its template is not changed; every pod made later comes up on its images (app stays app:v1)',
  ],
  [
    { code: 'template-unchanged', owner: 'pod/a of replicaset/alone', made: 'ReplicaSet', images: [] },
    'pod/a of replicaset/alone: its template is not changed; every pod made later comes up on its images (those of its ReplicaSet)',
  ],
  [
    { code: 'part-of-workload', workload: 'statefulset/web', pods: 1, replicas: 3 },
    'statefulset/web: this run has 1 of its 3 pods; the others keep their images until they are upgraded or recreated, and then get the new ones',
  ],
  [
    {
      code: 'other-image-stays',
      pods: ['web-0'],
      workload: 'statefulset/web',
      container: 'sidecar',
      image: 'mirror/sidecar:v1',
      templateImage: 'registry/sidecar:v1',
    },
    'pod web-0: container sidecar runs mirror/sidecar:v1 where the template of statefulset/web has registry/sidecar:v1; it is left as it is',
  ],
])('%o', (reason, words) => {
  expect(reasonWords(reason)).toBe(words)
})
