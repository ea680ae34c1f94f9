import { STATEFUL_SET } from '../../workloads/kinds/stateful-set.ts'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { PodView } from '../../pods/glossary.ts'
import type { PodOwner } from './missing-pods.ts'
import { isThere, missingPods, shortageReasons } from './missing-pods.ts'

const pod = (uid: string, change: object = {}): PodView =>
  ({ uid, name: uid, deleting: false, finished: false, owner: { uid: 'web' }, ...change }) as PodView

const workload = (desired: number, uid = 'web', owners: readonly string[] = [uid]): PodOwner => ({
  ref: { ...STATEFUL_SET, namespace: 'shop', name: uid },
  uid,
  owns: ({ owner }) => owner !== undefined && owners.includes(owner.uid),
  desired: () => desired,
  replaces: () => true,
})

test('each workload lacks what it should have and has not, whoever saw it go', () => {
  const api = [pod('api-0', { owner: { uid: 'api' } })]
  const missing = missingPods([workload(3), workload(1, 'api'), workload(2, 'db')], [pod('web-0'), ...api])
  expect(missing.map(({ name }) => name)).toEqual(['statefulset/web', 'statefulset/web', 'statefulset/db', 'statefulset/db'])
  expect(new Set(missing.map(({ uid }) => uid)).size).toBe(4)
  expect(missing.every(({ standing, ready }) => standing === 'missing' && !ready)).toBe(true)
})

test('the pods of all owners under one workload count, as those of the ReplicaSets of a Deployment', () => {
  const pods = [pod('a', { owner: { uid: 'old' } }), pod('b', { owner: { uid: 'new' } })]
  expect(missingPods([workload(2, 'web', ['old', 'new'])], pods)).toEqual([])
})

test('one that is to be scaled away stands for none of those that are kept', () => {
  const pods = [pod('web-0'), pod('web-1', { deleting: true }), pod('web-2'), pod('web-3')]
  const scaledDown = { ...workload(3), replaces: ({ name }: PodView) => name !== 'web-3' }
  expect(missingPods([scaledDown], pods)).toHaveLength(1)
  // Control: the pod is kept.
  expect(missingPods([workload(3)], pods)).toEqual([])
})

test('each workload that lacks pods is told, and no other', () => {
  expect(shortageReasons([workload(3), workload(1, 'db', ['web'])], [pod('web-0'), pod('web-1', { deleting: true })])).toEqual([
    { code: 'lacks-pods', workload: 'statefulset/web', present: 1, desired: 3, leaving: [] },
  ])
})

test('bare pods are nobody’s, and more than there should be are none too few', () => {
  expect(missingPods([workload(1)], [pod('web-0', { owner: undefined })])).toHaveLength(1)
  expect(missingPods([workload(1), workload(0, 'web-9')], [pod('web-0'), pod('web-1')])).toEqual([])
})

const happenings = fc.array(
  fc.record({
    what: fc.constantFrom('delete' as const, 'evict' as const, 'go' as const, 'come' as const),
    which: fc.nat({ max: 9 }),
  }),
  { maxLength: 40 },
)

test('those that are there and those that are missing are as many as there should be, whatever befalls them', () => {
  fc.assert(
    fc.property(happenings, (all) => {
      let pods = ['0', '1', '2'].map((uid) => pod(uid))
      let made = pods.length
      const change = (one: PodView, to: Partial<PodView>): PodView[] =>
        pods.map((each) => (each === one ? { ...each, ...to } : each))
      for (const { what, which } of all) {
        const there = pods.filter(isThere)
        const ended = pods.filter((each) => !isThere(each))
        const one = there[which % Math.max(1, there.length)]
        if (what === 'delete' && one) pods = change(one, { deleting: true })
        if (what === 'evict' && one) pods = change(one, { finished: true })
        if (what === 'go') pods = pods.filter((each) => each !== ended[which % Math.max(1, ended.length)])
        if (what === 'come' && there.length < 3) pods = [...pods, pod(String(made++))]
        expect(pods.filter(isThere).length + missingPods([workload(3)], pods).length).toBe(3)
      }
    }),
    { numRuns: 200 },
  )
})

test('a pod that hangs in Terminating is named, with what holds it', () => {
  const deletion = { dueAt: '2026-01-01T00:01:00Z', finalizers: ['example.org/backup'] }
  const pods = [pod('web-0'), pod('web-1', { deleting: true, deletion })]
  const leaving = { pod: 'web-1', because: { code: 'terminating', ...deletion } }
  expect(missingPods([workload(2)], pods)).toMatchObject([{ name: 'statefulset/web', leaving }])
  expect(shortageReasons([workload(2)], pods)).toEqual([
    { code: 'lacks-pods', workload: 'statefulset/web', present: 1, desired: 2, leaving: [leaving] },
  ])
})
