import { expect, test } from 'vitest'
import type { Observation } from '../../../machines/pod-upgrade/context.ts'
import type { PodView, ReadJournal } from '../../pods/glossary.ts'
import { testPod } from '../../pods/testing/raw-pod.ts'
import type { PodSelection } from '../../observation/pod-record.ts'
import type { NamedWorkloads } from '../../workloads/open.ts'
import type { Workload } from '../../workloads/workload.ts'
import { besideNamed, besideSelected } from './beside.ts'
import type { PodStore } from '../../observation/pod-store.ts'

const NONE: ReadJournal = { kind: 'none' }
const UNREADABLE: ReadJournal = { kind: 'unreadable', problem: { code: 'record-not-json' } }

const podOf = (owner: string, name: string): PodView =>
  testPod({ name, uid: name, owner: { kind: 'StatefulSet', name: owner, uid: owner } })

const workloadOf = (name: string, kind: 'StatefulSet' | 'Pod' = 'StatefulSet'): Workload =>
  ({
    ref: { kind, namespace: 'shop', name },
    selector: { labelSelector: `app=${name}` },
    owns: (pod: PodView) => (kind === 'Pod' ? pod.name === name : pod.owner?.name === name),
  }) as Partial<Workload> as Workload

function storeOf(...pods: PodView[]) {
  const seen = new Map<string, Observation>()
  const see = (pod: PodView, stored: ReadJournal = NONE): void => void seen.set(pod.uid, { pod, stored })
  for (const pod of pods) see(pod)
  const calls: string[] = []
  const store: PodStore = {
    all: () => seen.values(),
    get: (uid) => seen.get(uid),
    observe: () => expect.unreachable('nothing is written'),
    announce: () => expect.unreachable('nothing is written'),
    isHeard: () => true,
    isCurrent: () => !calls.includes('lost'),
    isBroken: () => calls.includes('lost'),
    refresh: async () => void calls.push('refresh'),
    stop: async () => {},
  }
  return { store, calls, see, remove: (name: string) => seen.delete(name) }
}

const named = (change: Partial<NamedWorkloads>): NamedWorkloads => ({
  workloads: [workloadOf('web')],
  selector: {},
  includes: ({ name }) => name === 'web-0',
  isAboutPods: true,
  ...change,
})

const namesOf = (found: Observation[]): string[] => found.map(({ pod }) => pod.name)

const PODS = [podOf('web', 'web-0'), podOf('web', 'web-1'), podOf('web', 'web-2'), podOf('api', 'api-0')]

test('by name: the other pods of the same workload, and none of another', () => {
  expect(namesOf(besideNamed(named({}), storeOf(...PODS).store).all())).toEqual(['web-1', 'web-2'])
})

test('a request about whole workloads has nobody beside it', async () => {
  const beside = besideNamed(named({ isAboutPods: false, includes: () => false }), storeOf(...PODS).store)
  await beside.refresh()
  expect([beside.all(), beside.isCurrent()]).toEqual([[], true])
})

test('by label: the others are listed by the selector of their workloads, since the list of those that are meant lacks them', async () => {
  const opened: PodSelection[] = []
  const { store, calls } = storeOf(...PODS)
  const beside = await besideSelected([workloadOf('web')], storeOf(PODS[0]!).store, async (selector) => {
    opened.push(selector)
    return store
  })
  expect(opened).toEqual([{ labelSelector: 'app=web' }])
  expect(namesOf(beside.all())).toEqual(['web-1', 'web-2'])
  await beside.refresh()
  calls.push('lost')
  expect([calls, beside.isCurrent()]).toEqual([['refresh', 'lost'], false])
})

test('of a pod without an owner one that was made anew under its name', async () => {
  const { store, see, remove } = storeOf(PODS[0]!, PODS[1]!)
  const beside = await besideSelected([workloadOf('web-0', 'Pod')], storeOf(PODS[0]!).store, async () => store)
  expect(beside.all()).toEqual([])
  remove('web-0')
  see({ ...PODS[0]!, uid: 'anew' })
  expect(beside.all()).toMatchObject([{ pod: { name: 'web-0', uid: 'anew' } }])
})

test('a label that no pod has: nothing is listed', async () => {
  const beside = await besideSelected([], storeOf().store, () => expect.unreachable('nothing is to be listed'))
  expect(beside.all()).toEqual([])
})

test('one that has gone since stays where it may have been left half done, as one that is going', () => {
  const { store, see, remove } = storeOf(...PODS)
  see(PODS[1]!, UNREADABLE)
  const beside = besideNamed(named({}), store)
  beside.all()
  remove('web-1')
  remove('web-2')
  expect(beside.all()).toEqual([{ pod: { ...PODS[1]!, deleting: true }, stored: UNREADABLE }])
})

test('control: what is settled before it goes is not kept', () => {
  const { store, see, remove } = storeOf(...PODS)
  see(PODS[1]!, UNREADABLE)
  const beside = besideNamed(named({}), store)
  beside.all()
  see(PODS[1]!)
  beside.all()
  remove('web-1')
  expect(namesOf(beside.all())).toEqual(['web-2'])
})
