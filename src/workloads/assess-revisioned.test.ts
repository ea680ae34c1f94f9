import { STATEFUL_SET } from './kinds/stateful-set.ts'
import { describe, expect, it } from 'vitest'
import type { Refusal } from '../plan/plan.ts'
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
  /** The templates by label. */
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
      { code: 'part-of-workload', workload: 'statefulset/web', pods: 1, replicas: 3 },
    ])
  })

  it('warns of a container that runs another image than any template has', () => {
    const [first, ...others] = three('r1')
    const pods = [pod({ revision: 'r1', template: template({ sidecar: 'mirror/sidecar:v1' }) }), ...others]
    expect(first!.name).toBe('web-0')
    expect(assess({ pods })).toMatchObject({
      refusals: [],
      warnings: [
        {
          code: 'other-image-stays',
          pods: ['web-0'],
          workload: 'statefulset/web',
          container: 'sidecar',
          image: 'mirror/sidecar:v1',
          templateImage: 'registry/sidecar:v1',
        },
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

const WEB = 'statefulset/web'
const ALL = ['web-0', 'web-1', 'web-2']
const difference = (path: string, before: string, after: string) => ({
  path: `spec.template.spec.containers${path}`,
  before,
  after,
})
const edited: Refusal = {
  code: 'revision-differs',
  workload: WEB,
  pods: ALL,
  differences: [difference('[app].env[FOO].value', 'a', 'b')],
}

it.each<[string, World, Refusal]>([
  [
    'RollingUpdate',
    { now: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 3 } } } },
    {
      code: 'update-strategy',
      workload: WEB,
      strategy: 'RollingUpdate',
      change: {
        command: 'kubectl',
        namespace: 'shop',
        args: ['patch', WEB, '--type', 'merge', '-p', '{"spec":{"updateStrategy":{"type":"OnDelete","rollingUpdate":null}}}'],
      },
    },
  ],
  ['deletion', { deleting: true }, { code: 'workload-deleting', workload: WEB }],
  [
    'an unknown container',
    { asked: [{ container: 'ap', image: 'x' }] },
    { code: 'unknown-container', of: { workload: WEB }, container: 'ap', known: ['app', 'sidecar'] },
  ],
  [
    'a native sidecar',
    { asked: [{ container: 'proxy', image: 'x' }] },
    { code: 'init-container', of: { workload: WEB }, container: 'proxy', known: ['app', 'sidecar'] },
  ],
  ['a container twice', { asked: [...v2, ...v2] }, { code: 'container-twice', container: 'app' }],
  [
    'pods without the container',
    { pods: three('r1', { ...template(), spec: { containers: [{ name: 'old', image: 'x' }] } }) },
    { code: 'unknown-container', of: { pods: ALL }, container: 'app', known: ['old'] },
  ],
  ['an edited variable', { now: { template: template({ env: { FOO: 'b' } }) } }, edited],
  [
    'an edited variable, with the images of the template',
    { asked: [], now: { template: template({ app: 'registry/app:v2', env: { FOO: 'b' } }) } },
    edited,
  ],
  [
    'an image of another container',
    { now: { template: template({ sidecar: 'registry/sidecar:v2' }) } },
    {
      code: 'revision-differs',
      workload: WEB,
      pods: ALL,
      differences: [difference('[sidecar].image', 'registry/sidecar:v1', 'registry/sidecar:v2')],
      images: [...v2, { container: 'sidecar', image: 'registry/sidecar:v2' }],
    },
  ],
  ['pods of an unknown revision', { pods: three('r0') }, { code: 'revision-unknown', workload: WEB, pods: ALL, revision: 'r0' }],
  [
    'a pod without the label',
    { pods: [pod(), ...three('r1').slice(1)] },
    { code: 'revision-unknown', workload: WEB, pods: ['web-0'] },
  ],
])('refuses %s', (_name, world, refusal) => {
  expect(assess(world).refusals).toEqual([refusal])
})

it('tells pods of different revisions apart', () => {
  const revisions = { r1: template(), r2: template({ env: { FOO: 'b' } }) }
  const pods = [...three('r1').slice(0, 2), pod({ name: 'web-2', revision: 'r2' })]
  const refusals = assess({ now: { template: template({ env: { FOO: 'c' } }) }, revisions, pods }).refusals
  expect(refusals).toMatchObject([
    { code: 'revision-differs', pods: ['web-0', 'web-1'], differences: [{ before: 'a', after: 'c' }] },
    { code: 'revision-differs', pods: ['web-2'], differences: [{ before: 'b', after: 'c' }] },
  ])
})
