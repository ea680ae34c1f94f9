import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Service } from '../endpoints/objects.ts'
import { serviceEndpoints } from '../endpoints/service-endpoints.ts'
import { service } from '../endpoints/testing/objects.ts'
import { createClusterState } from './cluster-state.ts'
import type { SeenAddress, SeenEndpoints, SeenNode, SeenPod } from './events.ts'
import { CONTROLLER, seenPod } from './testing/scene.ts'
import { standing } from './wanted.ts'

/* The state that is kept event by event equals the result of src/endpoints for all objects at once. */

const LABELS = [{ app: 'web' }, { app: 'job' }, { app: 'web', tier: 'front' }, { tier: 'front' }, {}]
const name = fc.constantFrom('a', 'b', 'c')
const label = fc.constantFrom(...LABELS)
const node = fc.constantFrom('node-1', 'node-2')

const pods = fc
  .record({
    name,
    label,
    node,
    ready: fc.boolean(),
    ip: fc.nat(3),
    phase: fc.constantFrom('Running', 'Failed'),
    isGoing: fc.boolean(),
  })
  .map(({ name: own, label: labels, node: on, ready, ip, phase, isGoing }) => {
    const pod = seenPod(own, { ip: `10.0.0.${ip}`, ready, node: on, phase })
    return { ...pod, metadata: { ...pod.metadata, labels, ...(isGoing && { deletionTimestamp: '2026-11-29T10:10:00Z' }) } }
  })
const services = fc
  .record({ name, label, publishNotReadyAddresses: fc.boolean(), clusterIP: fc.constantFrom('10.96.0.7', 'None') })
  .map(({ name: own, label: selector, ...spec }) => service({ selector, ...spec }, { name: own, uid: `uid-of-service-${own}` }))
const slices = fc
  .record({ uid: fc.constantFrom('s', 't'), service: name, pods: fc.subarray(['a', 'b', 'c']), ready: fc.boolean() })
  .map(({ uid, service: own, pods: of, ready }): SeenEndpoints => ({
    kind: 'EndpointSlice',
    uid,
    resourceVersion: '1',
    namespace: 'shop',
    name: uid,
    service: own,
    isControllers: true,
    addresses: of.map((pod): SeenAddress => ({
      address: '10.0.0.1',
      ready,
      serving: ready,
      terminating: false,
      pod: `uid-of-${pod}`,
    })),
    ports: '80',
    by: CONTROLLER,
  }))

type Step =
  | { put: SeenPod }
  | { removed: string }
  | { service: Service }
  | { serviceGone: string }
  | { node: SeenNode }
  | { nodeGone: string }
  | { slice: SeenEndpoints }
  | { sliceGone: string }

const steps = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: pods.map((put): Step => ({ put })) },
    { weight: 3, arbitrary: services.map((one): Step => ({ service: one })) },
    { weight: 3, arbitrary: slices.map((slice): Step => ({ slice })) },
    name.map((own): Step => ({ removed: `uid-of-${own}` })),
    name.map((serviceGone): Step => ({ serviceGone })),
    node.map((on): Step => ({ node: { metadata: { name: on }, ready: 'True', addresses: [] } })),
    node.map((nodeGone): Step => ({ nodeGone })),
    fc.constantFrom('s', 't').map((sliceGone): Step => ({ sliceGone })),
  ),
  { maxLength: 40 },
)

const BOTH_NODES: Step[] = ['node-1', 'node-2'].map((on) => ({ node: { metadata: { name: on }, ready: 'True', addresses: [] } }))

function apply(state: ReturnType<typeof createClusterState>, step: Step): void {
  if ('put' in step) state.putPod(step.put)
  else if ('removed' in step) state.removePod(step.removed)
  else if ('service' in step) state.putService(step.service)
  else if ('serviceGone' in step) state.removeService('shop', step.serviceGone)
  else if ('node' in step) state.putNode(step.node)
  else if ('nodeGone' in step) state.removeNode(step.nodeGone)
  else if ('slice' in step) state.putEndpoints(step.slice)
  else state.removeEndpoints(step.sliceGone)
}

/** The standing of each pod that the selector has, by UID. */
function fromScratch(one: Service, all: readonly SeenPod[], nodes: readonly SeenNode[]) {
  const { made, pods: memberships } = serviceEndpoints({ service: one, pods: all, nodes })
  const inEndpoints = (made?.endpoints.subsets ?? []).flatMap(({ addresses, notReadyAddresses }) => [
    ...addresses.map(({ ip, targetRef }) => ({ address: ip, ready: true, pod: targetRef.uid })),
    ...notReadyAddresses.map(({ ip, targetRef }) => ({ address: ip, ready: false, pod: targetRef.uid })),
  ])
  return new Map(
    memberships
      .filter(({ selected }) => selected)
      .map(({ pod: { metadata }, slices: own }) => [
        metadata.uid,
        {
          EndpointSlice: standing(
            own.flatMap(({ addresses, conditions }) => addresses.map((address) => ({ address, ...conditions }))),
          ),
          Endpoints: standing(inEndpoints.filter(({ pod }) => pod === metadata.uid)),
        },
      ]),
  )
}

function check(all: readonly Step[], forget: (step: Step) => boolean = () => false): void {
  const state = createClusterState()
  const [known, nodes] = [new Map<string, SeenPod>(), new Map<string, SeenNode>()]
  const [byName, objects] = [new Map<string, Service>(), new Map<string, SeenEndpoints>()]
  for (const step of [...BOTH_NODES, ...all]) {
    if (!forget(step)) apply(state, step)
    if ('put' in step) known.set(step.put.metadata.uid, step.put)
    else if ('removed' in step) known.delete(step.removed)
    else if ('service' in step) byName.set(step.service.metadata.name, step.service)
    else if ('serviceGone' in step) byName.delete(step.serviceGone)
    else if ('node' in step) nodes.set(step.node.metadata.name, step.node)
    else if ('nodeGone' in step) nodes.delete(step.nodeGone)
    else if ('slice' in step) objects.set(step.slice.uid, step.slice)
    else objects.delete(step.sliceGone)
  }
  for (const [own, one] of byName) {
    const wanted = fromScratch(one, [...known.values()], [...nodes.values()])
    const kept = state.services.get(`shop/${own}`)!
    expect(new Map([...kept.wanted].sort())).toEqual(new Map([...wanted].sort()))
    for (const uid of ['a', 'b', 'c'].map((pod) => `uid-of-${pod}`)) {
      const seen = [...objects.values()].filter((object) => object.service === own).flatMap(({ addresses }) => addresses)
      expect(state.seenOf({ service: kept, pod: uid }, 'EndpointSlice')).toBe(standing(seen.filter(({ pod }) => pod === uid)))
    }
  }
  const alive = [...state.services.values()].filter(({ service: one, objects: own }) => one !== undefined || own.size > 0)
  expect(alive.length).toBe(state.services.size)
}

function property(forget?: (step: Step) => boolean): void {
  fc.assert(
    fc.property(steps, (all) => check(all, forget)),
    { numRuns: 500 },
  )
}

test('the kept state is that of all objects at once', () => {
  expect(() => property()).not.toThrow()
})

test.each(['removed', 'nodeGone', 'sliceGone'])('control: the property fails where %s is lost', (what) => {
  expect(() => property((step) => what in step)).toThrow('Property failed')
})
