import { DEPLOYMENT, REPLICA_SET } from './kinds/deployment.ts'
import { expect, it } from 'vitest'
import { assessPodsAlone } from './assess-pods-alone.ts'
import { madeRecord, workloadRecord } from './records.ts'
import type { Raw } from './testing/fake-api.ts'
import { NAMESPACE, deployment, pod, replicaSet, template } from './testing/manifests.ts'

const v2 = [{ container: 'app', image: 'registry/app:v2' }]
const identity = { uid: 'u', resourceVersion: '1' }

interface World {
  change?: (raw: Raw) => void
  asked?: typeof v2
  accept?: boolean
  replicaSets?: Raw[]
  podTemplate?: Raw
}

function assess({
  change = () => {},
  asked = v2,
  accept = false,
  replicaSets = [replicaSet('web-1', undefined)],
  podTemplate,
}: World) {
  const raw = deployment()
  Object.assign(raw.metadata, identity)
  change(raw)
  return assessPodsAlone(
    {
      ref: { ...DEPLOYMENT, name: 'web', namespace: NAMESPACE },
      workload: workloadRecord(raw),
      kind: DEPLOYMENT,
      through: REPLICA_SET,
      made: replicaSets.map((one) => madeRecord({ ...one, metadata: { ...one.metadata, ...identity } })),
      acceptTemplateDrift: accept,
    },
    asked,
    [pod(podTemplate ? { template: podTemplate } : {})],
  )
}

it('never changes the template, and says what that means once it is accepted', () => {
  expect(assess({ accept: true })).toEqual({
    images: v2,
    refusals: [],
    warnings: [
      'deployment/web: its template is not changed; every pod made later comes up on its images (app stays registry/app:v1)',
    ],
  })
})

it('brings patched pods back to the template without asking', () => {
  expect(assess({ asked: [], podTemplate: template({ app: 'registry/app:v2' }) })).toEqual({
    images: [{ container: 'app', image: 'registry/app:v1' }],
    refusals: [],
    warnings: [],
  })
})

it.each<[string, World, string, string, string | undefined, command?: string]>([
  [
    'drift that was not accepted',
    {},
    'template-drift',
    'deployment/web cannot be upgraded in place with its template: a change of the template of a Deployment makes a new ReplicaSet, which replaces every pod without a drain. With the pods alone patched, every pod made later comes up on the images of the template (app stays registry/app:v1)',
    'Use a StatefulSet or DaemonSet with the update strategy OnDelete, or accept it: --accept-template-drift.',
  ],
  [
    'two ReplicaSets with pods',
    {
      accept: true,
      replicaSets: [replicaSet('web-2', undefined), replicaSet('web-1', undefined, 1), replicaSet('web-0', undefined, 0)],
    },
    'rollout-in-progress',
    'deployment/web is in the middle of a rollout, which replaces pods: it has pods of 2 ReplicaSets (web-1, web-2)',
    'Wait for its end.',
    'kubectl -n shop rollout status deployment/web',
  ],
  [
    'a generation that was not observed',
    { accept: true, change: (raw) => (raw.metadata.generation = 2) },
    'rollout-in-progress',
    'deployment/web is in the middle of a rollout, which replaces pods: its controller has not observed generation 2 yet (it is at 1)',
    'Wait for its end.',
    'kubectl -n shop rollout status deployment/web',
  ],
  [
    'pods of an older template',
    { accept: true, change: (raw) => (raw.status.updatedReplicas = 1) },
    'rollout-in-progress',
    'deployment/web is in the middle of a rollout, which replaces pods: 1 of its 3 pods are of its newest template',
    'Wait for its end.',
    'kubectl -n shop rollout status deployment/web',
  ],
  [
    'a paused Deployment',
    { accept: true, change: (raw) => (raw.spec.paused = true) },
    'workload-paused',
    'deployment/web is paused: whoever resumes it may start a rollout that replaces the pods',
    'Resume it, and run again once its rollout is over.',
    'kubectl -n shop rollout resume deployment/web',
  ],
  [
    'a Deployment that is being deleted',
    { accept: true, change: (raw) => (raw.metadata.deletionTimestamp = '2026-01-01T00:00:00Z') },
    'workload-deleting',
    'deployment/web is being deleted',
    'Run the same command again once it is made anew and its pods are ready.',
  ],
])('refuses %s', (_name, world, code, message, hint, command) => {
  const what = { code, message, ...(hint === undefined ? {} : { hint }), ...(command === undefined ? {} : { command }) }
  expect(assess(world).refusals).toEqual([what])
})
