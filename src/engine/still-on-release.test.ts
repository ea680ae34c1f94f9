import { STATEFUL_SET, statefulSet } from '../workloads/kinds/stateful-set.ts'
import { DEPLOYMENT, deployment } from '../workloads/kinds/deployment.ts'
import { expect, test } from 'vitest'
import type { ContainerImage } from '../pods/glossary.ts'
import { testPod } from '../pods/testing/raw-pod.ts'
import type { Workload } from '../workloads/workload.ts'
import type { Undoing } from './undoing.ts'
import { changedSince, stillOnRelease } from './undoing.ts'

const image = (tag: string): ContainerImage[] => [{ container: 'app', image: `app:${tag}` }]
const web = {
  kind: statefulSet,
  ref: { ...STATEFUL_SET, name: 'web', namespace: 'shop' },
  uid: 'w',
  owns: () => true,
} as unknown as Workload
const pod = (name: string, tag: string, change: Parameters<typeof testPod>[0] = {}) =>
  testPod({ name, uid: name, containers: [{ name: 'app', image: `app:${tag}` }], ...change })

/** The undo of a run to v2 that was about web-0. */
const undo: Undoing = {
  run: 'r1',
  images: image('v2'),
  imagesOf: ({ name }) => (name === 'web-0' ? image('v1') : []),
  labelOf: () => undefined,
  templateOf: () => image('v1'),
}
const STAYS = { code: 'stays-on-release', workload: 'statefulset/web', pods: 1, of: 2, run: 'r1' }

test('pods that stay on what is taken back are told, with the command that brings them to the template', () => {
  expect(stillOnRelease(undo, [web], [pod('web-0', 'v2'), pod('web-1', 'v2')])).toEqual([
    { ...STAYS, upgrade: { command: 'upgrade', namespace: 'shop', workloads: ['statefulset/web'] } },
  ])
})

test.each([
  ['stays as it is', []],
  ['goes back to what they run', image('v2')],
])('and without one, where the template %s', (_, template) => {
  const pods = [pod('web-0', 'v2'), pod('web-1', 'v2')]
  expect(stillOnRelease({ ...undo, templateOf: () => template }, [web], pods)).toEqual([STAYS])
})

test('nor for a Deployment, whose template is left alone', () => {
  const other = { ...web, kind: deployment, ref: { ...web.ref, ...DEPLOYMENT } } as Workload
  expect(stillOnRelease(undo, [other], [pod('web-0', 'v2'), pod('web-1', 'v2')])).toEqual([
    { ...STAYS, workload: 'deployment/web' },
  ])
})

test('of an undo that is taken back it is any of the images that it had asked for', () => {
  const again = { ...undo, images: [...image('v2'), ...image('v3')] }
  expect(stillOnRelease(again, [web], [pod('web-1', 'v2'), pod('web-2', 'v3'), pod('web-3', 'v1')])).toMatchObject([
    { ...STAYS, pods: 2, of: 3 },
  ])
})

test.each([
  ['goes back', pod('web-0', 'v2')],
  ['runs others', pod('web-1', 'v1')],
  ['is going', pod('web-1', 'v2', { deleting: true })],
  ['is of another workload', pod('web-1', 'v2'), { ...web, owns: () => false } as unknown as Workload],
])('control: not one that %s', (_, one, workload = web) => {
  expect(stillOnRelease(undo, [workload], [one])).toEqual([])
})

test('pods that were brought to other images since go back too, and are told', () => {
  expect(changedSince(undo, [web], [pod('web-0', 'v3'), pod('web-1', 'v3')])).toEqual([
    { code: 'released-since', workload: 'statefulset/web', pods: 1, of: 2, run: 'r1' },
  ])
})

test.each([
  ['runs what the run brought', pod('web-0', 'v2')],
  ['runs what it had before', pod('web-0', 'v1')],
  ['was not of that run', pod('web-1', 'v3')],
  ['is going', pod('web-0', 'v3', { deleting: true })],
])('control: not one that %s', (_, one) => {
  expect(changedSince(undo, [web], [one])).toEqual([])
})
