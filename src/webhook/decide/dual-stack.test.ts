import { expect, test } from 'vitest'
import { createClusterIndex } from '../cluster/cluster-index.ts'
import { keptNode, keptPod, keptService, keptSlice } from '../cluster/kept-fields.ts'
import { decide } from './decide.ts'
import { before, condition, endpoint, node, NOW, pod, rules, service, slice } from './testing/world.ts'

/* A Service of both families has two slices, in which each pod has an entry with one of its addresses. */

const READY = { ready: true, serving: true }
const OUT = { ready: false, serving: false }
const FAMILIES = ['IPv4', 'IPv6'] as const
type Family = (typeof FAMILIES)[number]

const addressOf = (index: number, family: Family): string => (family === 'IPv4' ? `10.0.0.${index}` : `fd00::${index}`)

function podOf(index: number, { status = {}, metadata = {} }: { status?: object; metadata?: object } = {}): object {
  const name = `web-${index}`
  return pod(index, {
    metadata: { name, namespace: 'shop', uid: `uid-of-${name}`, labels: { app: 'web' }, ...metadata },
    status: { podIPs: FAMILIES.map((family) => ({ ip: addressOf(index, family) })), ...status },
  })
}

const silent = (index: number): object =>
  podOf(index, {
    status: {
      conditions: [condition('ContainersReady', 'True'), condition('Ready', 'False', { lastTransitionTime: before(10_000) })],
    },
  })

/** The slice of a family with these conditions of the pods 1, 2 and so on. */
function sliceOf(family: Family, conditions: readonly object[]): object {
  return slice(
    conditions.map((one, index) => endpoint(index + 1, one, { addresses: [addressOf(index + 1, family)] })),
    {
      metadata: {
        uid: `uid-of-${family}`,
        name: `web-${family.toLowerCase()}`,
        namespace: 'shop',
        resourceVersion: '1',
        labels: { 'kubernetes.io/service-name': 'web' },
      },
      addressType: family,
    },
  )
}

/** The conditions of each pod, by family, after the controller has written `wish` over what was stored. */
function decidedBoth(list: string, pods: readonly object[], wish: readonly object[], stored = [READY, READY]) {
  const cluster = createClusterIndex()
  for (const one of pods) cluster.apply({ kind: 'Pod', is: 'put', object: keptPod(one) })
  cluster.apply({ kind: 'Node', is: 'put', object: keptNode(node) })
  const dual = { ...service, spec: { ...service.spec, ipFamilies: FAMILIES } }
  cluster.apply({ kind: 'Service', is: 'put', object: keptService(dual) })
  for (const family of FAMILIES) cluster.apply({ kind: 'EndpointSlice', is: 'put', object: keptSlice(sliceOf(family, stored)) })
  return Object.fromEntries(
    FAMILIES.map((family) => {
      const { object, decision } = decide({
        rules: rules(list),
        kind: 'EndpointSlice',
        object: sliceOf(family, wish),
        old: sliceOf(family, stored),
        cluster,
        nowAt: NOW,
      })
      expect(decision.endpoints.flatMap(({ failed }) => failed)).toEqual([])
      const { endpoints } = object as { endpoints: { addresses: string[]; conditions: object }[] }
      return [family, endpoints.map(({ addresses, conditions }) => [addresses[0], conditions])]
    }),
  )
}

const both = (conditions: readonly object[]): object =>
  Object.fromEntries(FAMILIES.map((family) => [family, conditions.map((one, index) => [addressOf(index + 1, family), one])]))

test('a rule about a pod decides in the slices of both families alike', () => {
  const marked = podOf(1, { metadata: { labels: { app: 'web', out: 'yes' } } })
  const rule = `  - {name: marked, when: 'pod.metadata.labels[?"out"].orValue("") == "yes"', effect: notReady}`
  expect(decidedBoth(rule, [marked, podOf(2)], [READY, READY])).toEqual(both([OUT, READY]))
})

test('a rule may be about one family, or about an address', () => {
  const family = `  - {name: no-ipv6, when: 'object.addressType == "IPv6"', effect: notReady}`
  expect(decidedBoth(family, [podOf(1), podOf(2)], [READY, READY])).toEqual({
    ...both([READY, READY]),
    IPv6: [
      ['fd00::1', OUT],
      ['fd00::2', OUT],
    ],
  })
  const one = `  - {name: one, when: 'address.address == "fd00::2"', effect: notReady}`
  expect(decidedBoth(one, [podOf(1), podOf(2)], [READY, READY])).toEqual({
    ...both([READY, READY]),
    IPv6: [
      ['fd00::1', READY],
      ['fd00::2', OUT],
    ],
  })
})

test('a pod that is kept stays in both slices, each with its own address', () => {
  const rule = `  - {use: late-heartbeat, with: {within: 5m, floor: 50%}}`
  expect(decidedBoth(rule, [silent(1), silent(2)], [OUT, OUT])).toEqual(both([READY, READY]))
  // Only what was stored is kept.
  expect(decidedBoth(rule, [silent(1), silent(2)], [OUT, OUT], [READY, OUT])).toEqual(both([READY, OUT]))
})

test('a floor counts pods, which have an entry in each family', () => {
  const floor = (pods: number): string => `  - {use: late-heartbeat, with: {within: 5m, floor: ${pods}}}`
  // One of two pods is ready, in two entries.
  expect(decidedBoth(floor(2), [silent(1), podOf(2)], [OUT, READY])).toEqual(both([READY, READY]))
  expect(decidedBoth(floor(1), [silent(1), podOf(2)], [OUT, READY])).toEqual(both([OUT, READY]))
})
