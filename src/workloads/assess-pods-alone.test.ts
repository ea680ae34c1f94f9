import { DEPLOYMENT, REPLICA_SET } from './kinds/deployment.ts'
import { expect, it } from 'vitest'
import { assessPodsAlone } from './assess-pods-alone.ts'
import { madeRecord, workloadRecord } from './records.ts'
import type { Refusal } from '../plan/plan.ts'
import type { Reason } from '../reasons/reason.ts'
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
      {
        code: 'template-unchanged',
        owner: 'deployment/web',
        made: 'ReplicaSet',
        by: 'Deployment',
        images: [{ container: 'app', image: 'registry/app:v1' }],
      },
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

const WEB = 'deployment/web'
const kubectl = (...args: string[]) => ({ command: 'kubectl', namespace: NAMESPACE, args }) as const
const inRollout = (because: Reason): Refusal => ({
  code: 'rollout-in-progress',
  workload: WEB,
  because,
  watch: kubectl('rollout', 'status', WEB),
})

it.each<[string, World, Refusal]>([
  [
    'drift that was not accepted',
    {},
    {
      code: 'template-drift',
      owner: WEB,
      made: 'ReplicaSet',
      by: 'Deployment',
      images: [{ container: 'app', image: 'registry/app:v1' }],
    },
  ],
  [
    'two ReplicaSets with pods',
    {
      accept: true,
      replicaSets: [replicaSet('web-2', undefined), replicaSet('web-1', undefined, 1), replicaSet('web-0', undefined, 0)],
    },
    inRollout({ code: 'pods-of-several', made: 'ReplicaSet', names: ['web-1', 'web-2'] }),
  ],
  [
    'a generation that was not observed',
    { accept: true, change: (raw) => (raw.metadata.generation = 2) },
    inRollout({ code: 'controller-behind', generation: 2, observed: 1 }),
  ],
  [
    'pods of an older template',
    { accept: true, change: (raw) => (raw.status.updatedReplicas = 1) },
    inRollout({ code: 'pods-behind-template', updated: 1, replicas: 3 }),
  ],
  [
    'a paused Deployment',
    { accept: true, change: (raw) => (raw.spec.paused = true) },
    { code: 'workload-paused', workload: WEB, resume: kubectl('rollout', 'resume', WEB) },
  ],
  [
    'a Deployment that is being deleted',
    { accept: true, change: (raw) => (raw.metadata.deletionTimestamp = '2026-01-01T00:00:00Z') },
    { code: 'workload-deleting', workload: WEB },
  ],
])('refuses %s', (_name, world, refusal) => {
  expect(assess(world).refusals).toEqual([refusal])
})
