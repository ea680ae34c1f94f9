import { STATEFUL_SET } from './kinds/stateful-set.ts'
import { describe, expect, it } from 'vitest'
import { writeJournal } from '../journal/journal.ts'
import type { ContainerImage, PodView } from '../pods/glossary.ts'
import type { WorkloadRef } from '../plan/plan.ts'
import { assessRevisioned } from './assess-revisioned.ts'
import { type RevisionRecord, workloadRecord } from './records.ts'
import type { Raw } from './testing/fake-api.ts'
import { NAMESPACE, type WorkloadOptions, pod, template, workload } from './testing/manifests.ts'

const ref: WorkloadRef = { ...STATEFUL_SET, name: 'web', namespace: NAMESPACE }
const v2: ContainerImage[] = [{ container: 'app', image: 'registry/app:v2' }]

interface World {
  now?: WorkloadOptions
  deleting?: boolean
  /** Templates by label. */
  revisions?: Record<string, Raw>
  asked?: ContainerImage[]
  pods?: PodView[]
}

function assess({ now = {}, deleting, revisions = { r1: template() }, asked = v2, pods = three('r1') }: World) {
  const raw = workload(now)
  Object.assign(raw.metadata, { uid: 'u', resourceVersion: '1' }, deleting ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {})
  const records = Object.entries(revisions).map(([name, own]): [string, RevisionRecord] => [
    name,
    { uid: name, name, namespace: NAMESPACE, resourceVersion: '1', revision: 1, template: own },
  ])
  return assessRevisioned({ ref, workload: workloadRecord(raw), revisions: new Map(records) }, asked, pods)
}

function three(revision: string, own?: Raw): PodView[] {
  return ['web-0', 'web-1', 'web-2'].map((name) => pod({ name, revision, ...(own ? { template: own } : {}) }))
}

describe('assessment of a StatefulSet or DaemonSet', () => {
  it('takes the images asked for, and says what changes in the template', () => {
    expect(assess({})).toEqual({
      images: v2,
      template: { workload: ref, change: [{ container: 'app', from: 'registry/app:v1', to: 'registry/app:v2' }] },
      refusals: [],
      warnings: [],
    })
  })

  it('leaves a template alone that has the images', () => {
    const assessment = assess({ now: { template: template({ app: 'registry/app:v2' }) } })
    expect(assessment).toEqual({ images: v2, refusals: [], warnings: [] })
  })

  it('takes the images of the template where none were asked for', () => {
    const now = { template: template({ app: 'registry/app:v3' }) }
    expect(assess({ now, asked: [] })).toEqual({
      images: [{ container: 'app', image: 'registry/app:v3' }],
      refusals: [],
      warnings: [],
    })
    expect(assess({ asked: [] }).images).toEqual([])
  })

  it.each([
    ['patched', [{ container: 'app', image: 'registry/app:v3' }]],
    ['closed', []],
  ] as const)('takes the images that it has patched already, where the last pod is left %s', (step, images) => {
    const own = template({ app: 'registry/app:v3' })
    const baseline = [{ name: 'app', image: 'registry/app:v1' }]
    const annotation = writeJournal({ run: 'r', epoch: 1, attempt: 1, step, baseline, targets: [] })
    const [last, ...done] = three('r3', own)
    const pods = [{ ...last!, journal: { annotation } }, ...done]
    expect(assess({ now: { template: own }, revisions: { r3: own }, asked: [], pods })).toEqual({
      images,
      refusals: [],
      warnings: [],
    })
  })

  it('warns where pods outside this run will get the images too, one day', () => {
    expect(assess({ pods: [pod({ revision: 'r1' })] }).warnings).toEqual([
      'statefulset/web: this run has 1 of its 3 pods; the others keep their images until they are upgraded or recreated, and then get the new ones',
    ])
  })

  it('warns of a container that runs another image than any template has', () => {
    const [first, ...others] = three('r1')
    const pods = [pod({ revision: 'r1', template: template({ sidecar: 'mirror/sidecar:v1' }) }), ...others]
    expect(first!.name).toBe('web-0')
    expect(assess({ pods })).toMatchObject({
      refusals: [],
      warnings: [
        'pod web-0: container sidecar runs mirror/sidecar:v1 where the template of statefulset/web has registry/sidecar:v1; it is left as it is',
      ],
    })
  })

  it('has nothing against pods that were patched in place before, under either revision', () => {
    const revisions = { r1: template(), r2: template({ app: 'registry/app:v2' }) }
    const [one, ...others] = three('r1')
    const pods = [pod({ name: one!.name, revision: 'r2', template: template({ app: 'registry/app:v2' }) }), ...others]
    expect(assess({ now: { template: template({ app: 'registry/app:v2' }) }, revisions, pods }).refusals).toEqual([])
  })

  it('counts the image that a pod runs, not the one that it was made with', () => {
    const now = { template: template({ sidecar: 'registry/sidecar:v2' }) }
    expect(assess({ now, pods: three('r1', template({ sidecar: 'registry/sidecar:v2' })) }).refusals).toEqual([])
  })

  it('does not look at pods that are going away', () => {
    expect(assess({ pods: [...three('r1'), pod({ name: 'web-3', revision: 'unknown', deleting: true })] }).refusals).toEqual([])
  })
})

const ANEW = 'Run the same command again once it is made anew and its pods are ready.'
const refused: [string, World, string, string, string | undefined, command?: string][] = [
  [
    'RollingUpdate',
    { now: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 3 } } } },
    'update-strategy',
    'statefulset/web has the update strategy RollingUpdate: its controller would delete and recreate the pods, without a drain, as soon as the template changes',
    'Change it. From then on a change of the template waits: the controller replaces a pod only after something deleted it.',
    `kubectl -n shop patch statefulset/web --type merge -p '{"spec":{"updateStrategy":{"type":"OnDelete","rollingUpdate":null}}}'`,
  ],
  ['deletion', { deleting: true }, 'workload-deleting', 'statefulset/web is being deleted', ANEW],
  [
    'an unknown container',
    { asked: [{ container: 'ap', image: 'x' }] },
    'unknown-container',
    'statefulset/web: there is no container ap; the containers are: app, sidecar',
    'Name one of these: CONTAINER=IMAGE.',
  ],
  [
    'a native sidecar',
    { asked: [{ container: 'proxy', image: 'x' }] },
    'init-container',
    'statefulset/web: container proxy is an init container; only those of spec.containers can be upgraded (app, sidecar)',
    'An init container, native sidecars included, takes a new image when its pod is recreated.',
  ],
  [
    'a container twice',
    { asked: [...v2, ...v2] },
    'container-twice',
    'an image for container app was given twice',
    'Give one image for each container.',
  ],
  [
    'pods without the container',
    { pods: three('r1', { ...template(), spec: { containers: [{ name: 'old', image: 'x' }] } }) },
    'unknown-container',
    'pods web-0, web-1, web-2: there is no container app; the containers are: old',
    'Name one of these: CONTAINER=IMAGE.',
  ],
  [
    'an edited variable',
    { now: { template: template({ env: { FOO: 'b' } }) } },
    'revision-differs',
    'pods web-0, web-1, web-2: the template of statefulset/web differs from what they were made from in more than the images of this upgrade, and they would count as updated without it: spec.template.spec.containers[app].env[FOO].value: "a" → "b"',
    'A pod takes such a change only when it is recreated: take it back in the template, or delete the pods to have it. A pod that is deleted restarts without a drain, and may come back at another address.',
  ],
  [
    'an edited variable, with the images of the template',
    { asked: [], now: { template: template({ app: 'registry/app:v2', env: { FOO: 'b' } }) } },
    'revision-differs',
    'pods web-0, web-1, web-2: the template of statefulset/web differs from what they were made from in more than the images of this upgrade, and they would count as updated without it: spec.template.spec.containers[app].env[FOO].value: "a" → "b"',
    'A pod takes such a change only when it is recreated: take it back in the template, or delete the pods to have it. A pod that is deleted restarts without a drain, and may come back at another address.',
  ],
  [
    'an image of another container',
    { now: { template: template({ sidecar: 'registry/sidecar:v2' }) } },
    'revision-differs',
    'pods web-0, web-1, web-2: the template of statefulset/web differs from what they were made from in more than the images of this upgrade, and they would count as updated without it: spec.template.spec.containers[sidecar].image: "registry/sidecar:v1" → "registry/sidecar:v2"',
    'Upgrade these images too: app=registry/app:v2 sidecar=registry/sidecar:v2',
  ],
  [
    'pods of an unknown revision',
    { pods: three('r0') },
    'revision-unknown',
    'pods web-0, web-1, web-2: no ControllerRevision of statefulset/web is known under the label controller-revision-hash (r0), so what else of the template would change cannot be told',
    'Delete the pods to have them recreated from the template of statefulset/web. A pod that is deleted restarts without a drain, and may come back at another address.',
  ],
  [
    'a pod without the label',
    { pods: [pod(), ...three('r1').slice(1)] },
    'revision-unknown',
    'pod web-0: no ControllerRevision of statefulset/web is known under the label controller-revision-hash (missing), so what else of the template would change cannot be told',
    'Delete the pod to have them recreated from the template of statefulset/web. A pod that is deleted restarts without a drain, and may come back at another address.',
  ],
]

it.each(refused)('refuses %s', (_name, world, code, message, hint, command) => {
  const what = { code, message, ...(hint === undefined ? {} : { hint }), ...(command === undefined ? {} : { command }) }
  expect(assess(world).refusals).toEqual([what])
})

it('tells pods of different revisions apart', () => {
  const revisions = { r1: template(), r2: template({ env: { FOO: 'b' } }) }
  const pods = [...three('r1').slice(0, 2), pod({ name: 'web-2', revision: 'r2' })]
  const refusals = assess({ now: { template: template({ env: { FOO: 'c' } }) }, revisions, pods }).refusals
  expect(refusals.map(({ message }) => message.replace(/:.*:/, ' …'))).toEqual([
    'pods web-0, web-1 … "a" → "c"',
    'pod web-2 … "b" → "c"',
  ])
})
