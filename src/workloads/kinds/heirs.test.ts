import { expect, test } from 'vitest'
import { isHeirIn } from './heirs.ts'
import { KINDS } from './index.ts'
import { upgradeOrder } from './upgrade-order.ts'
import type { PodView } from '../../pods/glossary.ts'
import type { RawPodOptions } from '../../pods/testing/raw-pod.ts'
import { testPod } from '../../pods/testing/raw-pod.ts'

const isHeir = isHeirIn(KINDS)

const owner = (kind: string, uid = 'uid-owner') => ({ kind, name: 'web', uid })
const pod = (options: RawPodOptions): PodView => testPod({ uid: 'new', ...options })

test.each<{ name: string; gone: RawPodOptions; heir: RawPodOptions; is: boolean }>([
  {
    name: 'StatefulSet: the same name',
    gone: { name: 'web-0', owner: owner('StatefulSet') },
    heir: { name: 'web-0', owner: owner('StatefulSet'), ip: '10.0.0.9' },
    is: true,
  },
  {
    name: 'StatefulSet: another name',
    gone: { name: 'web-0', owner: owner('StatefulSet') },
    heir: { name: 'web-1', owner: owner('StatefulSet') },
    is: false,
  },
  {
    name: 'another controller with the same name',
    gone: { name: 'web-0', owner: owner('StatefulSet') },
    heir: { name: 'web-0', owner: owner('StatefulSet', 'other') },
    is: false,
  },
  {
    name: 'DaemonSet: the same node',
    gone: { node: 'n1', owner: owner('DaemonSet') },
    heir: { name: 'web-x', node: 'n1', owner: owner('DaemonSet') },
    is: true,
  },
  {
    name: 'DaemonSet: another node',
    gone: { node: 'n1', owner: owner('DaemonSet') },
    heir: { node: 'n2', owner: owner('DaemonSet') },
    is: false,
  },
  { name: 'DaemonSet: not scheduled yet', gone: { owner: owner('DaemonSet') }, heir: { owner: owner('DaemonSet') }, is: false },
  {
    name: 'ReplicaSet: the same address',
    gone: { ip: '10.0.0.1', owner: owner('ReplicaSet') },
    heir: { name: 'web-y', ip: '10.0.0.1', owner: owner('ReplicaSet') },
    is: true,
  },
  {
    name: 'ReplicaSet: another address',
    gone: { ip: '10.0.0.1', owner: owner('ReplicaSet') },
    heir: { ip: '10.0.0.2', owner: owner('ReplicaSet') },
    is: false,
  },
  {
    name: "the address given to somebody else's pod",
    gone: { ip: '10.0.0.1', owner: owner('ReplicaSet') },
    heir: { ip: '10.0.0.1' },
    is: false,
  },
  { name: 'no controller: the same name', gone: { name: 'solo' }, heir: { name: 'solo' }, is: true },
  { name: 'itself', gone: { uid: 'new', name: 'solo' }, heir: { name: 'solo' }, is: false },
  { name: 'one that is being deleted', gone: { name: 'solo' }, heir: { name: 'solo', deleting: true }, is: false },
])('$name: $is', ({ gone, heir, is }) => {
  expect(isHeir(testPod({ uid: 'old', ...gone }), pod(heir))).toBe(is)
})

test('a StatefulSet of another group is another kind: of one that is not known the address counts', () => {
  const of = (uid: string, name: string, ip: string): PodView => ({
    ...testPod({ uid, name, ip }),
    owner: { ...owner('StatefulSet'), apiVersion: 'apps.kruise.io/v1beta1' },
  })
  const gone = of('old', 'web-0', '10.0.0.1')
  expect(isHeir(gone, of('new', 'web-0', '10.0.0.2'))).toBe(false)
  expect(isHeir(gone, of('new', 'web-7', '10.0.0.1'))).toBe(true)
})

test('a StatefulSet is upgraded from its highest ordinal down, others from the lowest up', () => {
  const names = (kind: string, list: string[]): string[] =>
    list
      .map((name) => pod({ name, owner: owner(kind) }))
      .toSorted(upgradeOrder(KINDS))
      .map(({ name }) => name)
  expect(names('StatefulSet', ['web-9', 'web-10', 'web-2'])).toEqual(['web-10', 'web-9', 'web-2'])
  expect(names('DaemonSet', ['web-9', 'web-10', 'web-2'])).toEqual(['web-2', 'web-9', 'web-10'])
  expect(names('ReplicaSet', ['b-x', 'a-y', 'a-x'])).toEqual(['a-x', 'a-y', 'b-x'])
})

test('a ReplicaSet’s pod that has the host port of one that is gone has come in its place, whatever its own address is', () => {
  const of = (uid: string, ip: string, host: string, hostPort = 30_080) =>
    testPod({
      uid,
      name: uid,
      ip,
      hostIps: [host],
      owner: { kind: 'ReplicaSet', name: 'web-1', uid: 'rs' },
      containers: [{ name: 'app', image: 'app:v1', ports: [{ containerPort: 80, hostPort }] }],
    })
  const gone = of('a', '10.0.0.1', '192.168.0.5')
  expect(isHeir(gone, of('b', '10.0.0.2', '192.168.0.5'))).toBe(true)
  expect(isHeir(gone, of('b', '10.0.0.2', '192.168.0.6'))).toBe(false)
  expect(isHeir(gone, of('b', '10.0.0.2', '192.168.0.5', 30_081))).toBe(false)
})
