import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { applyPatch } from '../../journal/testing/json-patch.ts'
import type { EndpointDecision } from './decision.ts'
import { address, condition, decided, endpoint, endpointsOf, node, pod, service, slice } from './testing/world.ts'

/* Whatever the rules, the object is one that the API server takes, and what no rule decides about stays as it is. */

const WHENS = [
  'true',
  'false',
  'pod.metadata.name == "web-1"',
  'endpoint.ready',
  '!endpoint.serving',
  'exists(pod) && condition(pod, "Ready").status == "False"',
  'endpoint.address.endsWith("2")',
  'readyPodsOf(service) < 3',
  'pod.spec.containers[7].name == "none"',
  'object.kind == "Endpoints" || object.size > 4',
  'request.operation == "UPDATE"',
  'ageOf(condition(pod, "Ready")) < duration("1h")',
]
const EFFECTS = ['ready', 'notReady', 'serving', 'remove', 'keepPrevious'] as const

const ruleList = fc
  .array(fc.record({ when: fc.constantFrom(...WHENS), effect: fc.constantFrom(...EFFECTS) }), { maxLength: 5 })
  .map((some) => {
    const lines = some.map(({ when, effect }, index) => {
      const keeps = effect === 'keepPrevious' ? `, since: 'timestamp("2026-11-30T09:59:00Z")', for: 1h` : ''
      return `  - {name: r${index}, when: ${JSON.stringify(when)}, effect: ${effect}${keeps}}`
    })
    return lines.length === 0 ? '  []' : lines.join('\n')
  })

const index = fc.integer({ min: 1, max: 6 })
const flags = fc.option(
  fc.record({ ready: fc.boolean(), serving: fc.boolean(), terminating: fc.boolean() }, { requiredKeys: [] }),
  { nil: undefined },
)
const sliceObject = fc
  .uniqueArray(fc.record({ index, conditions: flags, isBare: fc.boolean() }), { selector: (one) => one.index, maxLength: 6 })
  .map((some) =>
    slice(
      some.map(({ index: at, conditions, isBare }) =>
        isBare ? { addresses: [`10.0.0.${at}`], ...(conditions && { conditions }) } : endpoint(at, conditions),
      ),
    ),
  )

const PORTS = [[{ port: 80 }], [{ name: 'a', port: 8080, protocol: 'TCP' }], [{ name: 'b', port: 9090, protocol: 'TCP' }]]
const subset = fc.record({ addresses: fc.uniqueArray(index), rest: fc.uniqueArray(index) })
/** Subsets as the API server packs them: each set of ports once, and no address twice in a subset. One without ports is alone. */
const endpointsObject = fc
  .record({
    subsets: fc.array(subset, { maxLength: 3 }),
    ports: fc.oneof(fc.shuffledSubarray(PORTS, { minLength: 3, maxLength: 3 }), fc.constant([[]])),
  })
  .map(({ subsets, ports }) =>
    endpointsOf(
      subsets.flatMap(({ addresses, rest }, at) => {
        const notReady = rest.filter((one) => !addresses.includes(one))
        if (addresses.length + notReady.length === 0 || at >= ports.length) return []
        const all = { addresses: addresses.map((one) => address(one)), notReadyAddresses: notReady.map((one) => address(one)) }
        return [{ ...all, ports: ports[at]! }]
      }),
    ),
  )

const podObjects = fc.uniqueArray(fc.record({ index, ready: fc.boolean(), leaving: fc.boolean() }), {
  selector: (one) => one.index,
})
const objectsOf = (pods: { index: number; ready: boolean; leaving: boolean }[]): object[] => [
  ...pods.map(({ index: at, ready, leaving }) => {
    const base = pod(at, { status: { conditions: [condition('Ready', ready ? 'True' : 'False')] } }) as { metadata: object }
    return leaving ? { ...base, metadata: { ...base.metadata, deletionTimestamp: '2026-11-30T09:59:00Z' } } : base
  }),
  service,
  node,
]

type Endpoint = { addresses: string[]; conditions?: { ready?: boolean; serving?: boolean; terminating?: boolean } }

test('an EndpointSlice stays valid, each endpoint is in it once unless it is removed, and others are untouched', () => {
  fc.assert(
    fc.property(ruleList, sliceObject, fc.option(sliceObject, { nil: undefined }), podObjects, (list, object, old, pods) => {
      const answer = decided(list, object, { objects: objectsOf(pods), ...(old && { old }) })
      const given = (object as { endpoints: Endpoint[] }).endpoints
      const stored = applyPatch(object, [...answer.patch]) as { endpoints: Endpoint[] }
      expect(stored).toEqual(answer.object)
      const byAddress = new Map(answer.decision.endpoints.map((one) => [one.addresses[0]!, one]))
      const kept = given.filter(({ addresses }) => byAddress.get(addresses[0]!)?.as !== 'removed')
      expect(stored.endpoints.map(({ addresses }) => addresses)).toEqual(kept.map(({ addresses }) => addresses))
      stored.endpoints.forEach((one, at) => {
        const was = kept[at]!
        const told = byAddress.get(one.addresses[0]!)
        const isDecided = told?.rule !== undefined
        const { ready = true, serving = ready } = one.conditions ?? {}
        const { conditions: _now, ...others } = one
        const { conditions: before, ...same } = was
        expect(isDecided ? { ready, serving } : one).toEqual(isDecided ? told.as : was)
        expect(others).toEqual(same)
        expect(one.conditions?.terminating).toBe(before?.terminating)
      })
    }),
  )
})

type Subsets = { subsets: { addresses?: { ip: string }[]; notReadyAddresses?: { ip: string }[]; ports?: object[] }[] }

/** The state of each address under each port. Not ready wins, as in the API server. */
function places(object: unknown): Map<string, boolean> {
  const found = new Map<string, boolean>()
  for (const { addresses = [], notReadyAddresses = [], ports = [] } of (object as Subsets).subsets)
    for (const port of ports.length > 0 ? ports : [{}]) {
      for (const { ip } of addresses)
        found.set(`${ip} ${JSON.stringify(port)}`, found.get(`${ip} ${JSON.stringify(port)}`) ?? true)
      for (const { ip } of notReadyAddresses) found.set(`${ip} ${JSON.stringify(port)}`, false)
    }
  return found
}

function decisionFor(decisions: readonly EndpointDecision[], ip: string, ready: boolean): EndpointDecision | undefined {
  return decisions.find(({ addresses, wished }) => addresses[0] === ip && wished.ready === ready)
}

test('Endpoints stay valid, each address stays under its ports unless it is removed, and others are untouched', () => {
  fc.assert(
    fc.property(
      ruleList,
      endpointsObject,
      fc.option(endpointsObject, { nil: undefined }),
      podObjects,
      (list, object, old, pods) => {
        const answer = decided(list, object, { objects: objectsOf(pods), ...(old && { old }) })
        const stored = applyPatch(object, [...answer.patch]) as Subsets
        expect(stored).toEqual(answer.object)
        const packed = answer.patch.length > 0 ? stored.subsets : []
        for (const { addresses, notReadyAddresses, ports } of packed) {
          // What the validation of the API server asks for, and no list that it would leave out.
          expect((addresses ?? []).length + (notReadyAddresses ?? []).length).toBeGreaterThan(0)
          for (const some of [addresses, notReadyAddresses, ports]) expect(some).not.toEqual([])
          const ips = [...(addresses ?? []), ...(notReadyAddresses ?? [])].map(({ ip }) => ip)
          expect(new Set(ips).size).toBe(ips.length)
        }
        const now = places(stored)
        for (const [place, ready] of places(object)) {
          const [ip = ''] = place.split(' ')
          const as = decisionFor(answer.decision.endpoints, ip, ready)?.as ?? { ready }
          expect(now.get(place), place).toBe(as === 'removed' ? undefined : as.ready)
          now.delete(place)
        }
        expect([...now]).toEqual([])
      },
    ),
  )
})

test('the same question has the same answer', () => {
  fc.assert(
    fc.property(ruleList, fc.oneof(sliceObject, endpointsObject), podObjects, (list, object, pods) => {
      const ask = (): unknown => decided(list, object, { objects: objectsOf(pods) })
      expect(ask()).toEqual(ask())
    }),
  )
})

test('a decided object is decided about in the same way again, where the rules do not read the wish', () => {
  const list = ruleList.filter((text) => !/endpoint\.(ready|serving)|keepPrevious|object\.size|remove/.test(text))
  fc.assert(
    fc.property(list, fc.oneof(sliceObject, endpointsObject), podObjects, (text, object, pods) => {
      const first = decided(text, object, { objects: objectsOf(pods) })
      expect(decided(text, first.object as object, { objects: objectsOf(pods) }).patch).toEqual([])
    }),
  )
})
