import { expect, test } from 'vitest'
import type { ReasonOf } from '../../reasons/reason.ts'
import type { RefusalCode } from '../../reasons/refusals.ts'
import { wayOutOf } from './refusals.ts'
import { shellForm } from './shell.ts'
import { reasonWords } from './words.ts'

const WEB = 'statefulset/web'
const ALL = ['web-0', 'web-1', 'web-2']
const kubectl = (...args: string[]) => ({ command: 'kubectl', namespace: 'shop', args }) as const
const unread = { code: 'journal-unreadable', problem: { code: 'record-not-json' } } as const
const resolve = (traffic: 'in' | 'out') => ({ command: 'resolve', pod: 'web-0', namespace: 'shop', traffic }) as const
const undrainable = (said: string) => ({ code: 'not-drainable', because: { code: 'error', said } }) as const
const inRollout = {
  code: 'rollout-in-progress',
  workload: 'deployment/web',
  watch: kubectl('rollout', 'status', 'deployment/web'),
} as const
const WAIT = { hint: 'Wait for its end.', command: 'kubectl -n shop rollout status deployment/web' }
const DIFFERS =
  'pods web-0, web-1, web-2: the template of statefulset/web differs from what they were made from in more than the images of this upgrade, and they would count as updated without it: '
const ownedBy = (
  kind: string,
  name: string,
  apiVersion: string,
  upgrades: ReasonOf<'unsupported-owner'>['upgrades'],
): ReasonOf<'unsupported-owner'> => ({
  code: 'unsupported-owner',
  pods: ['a', 'b'],
  owner: { kind, name, apiVersion },
  upgrades,
})
const KRUISE = 'whose controller upgrades pods in place by itself, and would undo a patch of the pods'
const full: ReasonOf<'window-full'> = {
  code: 'window-full',
  window: 1,
  operator: [],
  operatorInPart: [],
  unserved: [],
  anyOut: false,
}

test.each<[ReasonOf<RefusalCode>, { message: string; hint: unknown; command?: string }]>([
  [
    {
      code: 'template-drift',
      owner: 'deployment/web',
      made: 'ReplicaSet',
      by: 'Deployment',
      images: [{ container: 'app', image: 'app:v1' }],
    },
    {
      message:
        'deployment/web cannot be upgraded in place with its template: a change of the template of a Deployment makes a new ReplicaSet, which replaces every pod without a drain. With the pods alone patched, every pod made later comes up on the images of the template (app stays app:v1)',
      hint: 'Use a StatefulSet or DaemonSet with the update strategy OnDelete, or accept it: --accept-template-drift.',
    },
  ],
  [
    { code: 'template-drift', owner: 'pod/a of replicaset/alone', made: 'ReplicaSet', images: [] },
    {
      message:
        'pod/a of replicaset/alone cannot be upgraded in place with its template: a ReplicaSet has no update of its own. With the pods alone patched, every pod made later comes up on the images of the template (those of its ReplicaSet)',
      hint: 'Use a StatefulSet or DaemonSet with the update strategy OnDelete, or accept it: --accept-template-drift.',
    },
  ],
  [
    { ...inRollout, because: { code: 'pods-of-several', made: 'ReplicaSet', names: ['web-1', 'web-2'] } },
    {
      message: 'deployment/web is in the middle of a rollout, which replaces pods: it has pods of 2 ReplicaSets (web-1, web-2)',
      ...WAIT,
    },
  ],
  [
    { ...inRollout, because: { code: 'controller-behind', generation: 2, observed: 1 } },
    {
      message:
        'deployment/web is in the middle of a rollout, which replaces pods: its controller has not observed generation 2 yet (it is at 1)',
      ...WAIT,
    },
  ],
  [
    { ...inRollout, because: { code: 'pods-behind-template', updated: 1, replicas: 3 } },
    {
      message: 'deployment/web is in the middle of a rollout, which replaces pods: 1 of its 3 pods are of its newest template',
      ...WAIT,
    },
  ],
  [
    { code: 'workload-paused', workload: 'deployment/web', resume: kubectl('rollout', 'resume', 'deployment/web') },
    {
      message: 'deployment/web is paused: whoever resumes it may start a rollout that replaces the pods',
      hint: 'Resume it, and run again once its rollout is over.',
      command: 'kubectl -n shop rollout resume deployment/web',
    },
  ],
  [
    { code: 'workload-deleting', workload: WEB },
    {
      message: 'statefulset/web is being deleted',
      hint: 'Run the same command again once it is made anew and its pods are ready.',
    },
  ],
  [
    {
      code: 'update-strategy',
      workload: WEB,
      strategy: 'RollingUpdate',
      change: kubectl(
        'patch',
        WEB,
        '--type',
        'merge',
        '-p',
        '{"spec":{"updateStrategy":{"type":"OnDelete","rollingUpdate":null}}}',
      ),
    },
    {
      message:
        'statefulset/web has the update strategy RollingUpdate: its controller would delete and recreate the pods, without a drain, as soon as the template changes',
      hint: 'Change it. From then on a change of the template waits: the controller replaces a pod only after something deleted it.',
      command: `kubectl -n shop patch statefulset/web --type merge -p '{"spec":{"updateStrategy":{"type":"OnDelete","rollingUpdate":null}}}'`,
    },
  ],
  [
    { code: 'unknown-container', of: { workload: WEB }, container: 'ap', known: ['app', 'sidecar'] },
    {
      message: 'statefulset/web: there is no container ap; the containers are: app, sidecar',
      hint: 'Name one of these: CONTAINER=IMAGE.',
    },
  ],
  [
    { code: 'unknown-container', of: { pods: ALL }, container: 'app', known: ['old'] },
    {
      message: 'pods web-0, web-1, web-2: there is no container app; the containers are: old',
      hint: 'Name one of these: CONTAINER=IMAGE.',
    },
  ],
  [
    { code: 'init-container', of: { workload: WEB }, container: 'proxy', known: ['app', 'sidecar'] },
    {
      message:
        'statefulset/web: container proxy is an init container; only those of spec.containers can be upgraded (app, sidecar)',
      hint: 'An init container, native sidecars included, takes a new image when its pod is recreated.',
    },
  ],
  [
    { code: 'container-twice', container: 'app' },
    { message: 'an image for container app was given twice', hint: 'Give one image for each container.' },
  ],
  [
    { code: 'no-image', pod: 'pod/a' },
    {
      message: 'no image was given, and pod/a has no workload with a template to take it from',
      hint: 'Say which: CONTAINER=IMAGE.',
    },
  ],
  [
    {
      code: 'revision-differs',
      workload: WEB,
      pods: ALL,
      differences: [{ path: 'spec.template.env[FOO].value', before: 'a', after: 'b' }],
    },
    {
      message: `${DIFFERS}spec.template.env[FOO].value: "a" → "b"`,
      hint: 'A pod takes such a change only when it is recreated: take it back in the template, or delete the pods to have it. A pod that is deleted restarts without a drain, and may come back at another address.',
    },
  ],
  [
    {
      code: 'revision-differs',
      workload: WEB,
      pods: ALL,
      differences: [{ path: 'spec.template.image', before: 'sidecar:v1', after: 'sidecar:v2' }],
      images: [
        { container: 'app', image: 'app:v2' },
        { container: 'sidecar', image: 'sidecar:v2' },
      ],
    },
    {
      message: `${DIFFERS}spec.template.image: "sidecar:v1" → "sidecar:v2"`,
      hint: 'Upgrade these images too: app=app:v2 sidecar=sidecar:v2',
    },
  ],
  [
    { code: 'revision-unknown', workload: WEB, pods: ALL, revision: 'r0' },
    {
      message:
        'pods web-0, web-1, web-2: no ControllerRevision of statefulset/web is known under the label controller-revision-hash (r0), so what else of the template would change cannot be told',
      hint: 'Delete the pods to have them recreated from the template of statefulset/web. A pod that is deleted restarts without a drain, and may come back at another address.',
    },
  ],
  [
    { code: 'revision-unknown', workload: WEB, pods: ['web-0'] },
    {
      message:
        'pod web-0: no ControllerRevision of statefulset/web is known under the label controller-revision-hash (missing), so what else of the template would change cannot be told',
      hint: 'Delete the pod to have them recreated from the template of statefulset/web. A pod that is deleted restarts without a drain, and may come back at another address.',
    },
  ],
  [
    ownedBy('Job', 'import', 'batch/v1', 'never'),
    {
      message: 'pods a, b: owned by Job import (batch/v1), whose pods run to completion: a restart would begin their work anew',
      hint: 'Change the image in the template; the next pods have it.',
    },
  ],
  [
    ownedBy('CloneSet', 'shop', 'apps.kruise.io/v1alpha1', 'in-place-by-itself'),
    {
      message: `pods a, b: owned by CloneSet shop (apps.kruise.io/v1alpha1), ${KRUISE}`,
      hint: 'Change the image in the template of CloneSet shop, and drain from its lifecycle hook (spec.lifecycle.inPlaceUpdate).',
    },
  ],
  [
    ownedBy('Node', 'node-1', 'v1', 'by-manifest'),
    {
      message: 'pods a, b: owned by Node node-1 (v1), so it is a static pod, of which the API server has a mirror only',
      hint: 'Change its manifest on the node node-1.',
    },
  ],
  [
    ownedBy('Rollout', 'shop', 'argoproj.io/v1alpha1', 'unknown'),
    {
      message:
        'pods a, b: owned by Rollout shop (argoproj.io/v1alpha1), of which sluice does not know what it does to patched pods',
      hint: 'sluice upgrades pods without an owner, of StatefulSets and DaemonSets with the update strategy OnDelete, and of Deployments.',
    },
  ],
  [
    { code: 'unreadable-journal', pod: 'web-0', because: unread, isOnRecord: true, resolve: resolve('out') },
    {
      message: 'pod/web-0: its journal cannot be read: it is not JSON',
      hint: expect.stringContaining('--traffic in, that it is in rotation'),
      command: 'sluice resolve pod/web-0 -n shop --traffic out',
    },
  ],
  [
    { code: 'unreadable-journal', pod: 'web-0', because: unread, isOnRecord: false, resolve: resolve('in') },
    {
      message: 'pod/web-0: its journal cannot be read: it is not JSON',
      hint: expect.stringMatching(/bring it into rotation by hand, and say so:$/),
      command: 'sluice resolve pod/web-0 -n shop --traffic in',
    },
  ],
  [
    {
      code: 'not-in-load-balancer',
      pod: 'web-1',
      because: undrainable('edge: 10.0.0.1:80 is none of the 3 servers'),
      isThere: false,
    },
    {
      message: 'pod/web-1: it cannot be drained: edge: 10.0.0.1:80 is none of the 3 servers',
      // Found by trial: of two servers with its address the flag was offered, and the run with it refused in the same words.
      hint: expect.stringMatching(
        /^Add it .*, mend its entries there, .*Service, a NodePort .* cannot be found\. Only one that gets no requests .* by --allow-unbalanced\.$/,
      ),
    },
  ],
  [
    { code: 'not-in-load-balancer', pod: 'web-1', because: undrainable('edge: two servers have its address'), isThere: true },
    {
      message: 'pod/web-1: it cannot be drained: edge: two servers have its address',
      hint: 'Mend its entries in the load balancer, or mend the config.',
    },
  ],
  [
    { code: 'no-address', pod: 'web-1', because: undrainable('web-1 has no address yet') },
    {
      message: 'pod/web-1: it cannot be drained: web-1 has no address yet',
      hint: 'Wait until it has started, or see why it does not.',
    },
  ],
  [{ code: 'no-pods' }, { message: 'no pods match', hint: 'Check the name or the selector, and the namespace (-n).' }],
  [
    { ...full, operator: ['web-0', 'web-1'] },
    {
      message: 'pod/web-0, pod/web-1: out of rotation by an operator, so that with maxUnavailable 1 no other pod may leave',
      hint: 'Put them back once they are ready, or raise maxUnavailable.',
    },
  ],
  [
    { ...full, operatorInPart: ['web-0', 'web-1'], anyOut: true },
    {
      message:
        'pod/web-0, pod/web-1: out of rotation in part by an operator, so that with maxUnavailable 1 no pod may leave rotation',
      hint: 'Put them back once they are ready, or raise maxUnavailable.',
    },
  ],
  [
    { ...full, unserved: ['web-1'], because: { code: 'error', said: 'edge: no server has the address 10.0.0.9' } },
    {
      message:
        'pod/web-1: not in every load balancer (edge: no server has the address 10.0.0.9), so that with maxUnavailable 1 no other pod may leave',
      hint: 'Put them back or in once they are ready, or raise maxUnavailable.',
    },
  ],
])('$0.code', (refusal, told) => {
  const { hint, command } = wayOutOf(refusal)
  expect({ message: reasonWords(refusal), hint, ...(command && { command: shellForm(command) }) }).toEqual(told)
})
