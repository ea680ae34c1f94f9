import { expect, test } from 'vitest'
import type { StoredPod } from '../../endpoints/stored.ts'
import { createVirtualClock } from '../../kube/testing/virtual-clock.ts'
import { createClusterIndex } from '../cluster/cluster-index.ts'
import type { EndpointsKind } from '../cluster/cluster-view.ts'
import { keptPod, keptService } from '../cluster/kept-fields.ts'
import { address, condition, endpoint, endpointsOf, pod, rules, service, slice } from '../decide/testing/world.ts'
import type { WaitOutcome } from './admission-event.ts'
import { createPodWaits } from './pod-waits.ts'
import { readReview } from './review.ts'
import { review } from './testing/review.ts'

const LONGEST_MS = 200
const RULES = rules('  - {use: late-heartbeat, with: {within: 5m, floor: "50%"}}')
const BY_CONTROLLER = {
  metadata: {
    name: 'web-1',
    namespace: 'shop',
    labels: {
      'kubernetes.io/service-name': 'web',
      'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
    },
  },
}

interface Wish {
  ready?: boolean
  serving?: boolean
  terminating?: boolean
}

function start({ publishes = false, mostWaiting = 32 } = {}) {
  const clock = createVirtualClock()
  const cluster = createClusterIndex()
  const spec = { ...service.spec, publishNotReadyAddresses: publishes }
  cluster.apply({ kind: 'Service', is: 'put', object: keptService({ ...service, spec }) })
  const waits = createPodWaits({ clock, cluster, mostWaiting })
  let version = 0

  function show(index: number, { ready = true, leaving = false } = {}, is: 'put' | 'gone' = 'put'): void {
    const raw = pod(index, { status: { conditions: [condition('Ready', ready ? 'True' : 'False')] } }) as StoredPod
    const deleted = leaving ? { deletionTimestamp: '2026-11-30T10:00:00Z' } : {}
    const object = keptPod({ ...raw, metadata: { ...raw.metadata, resourceVersion: String((version += 1)), ...deleted } })
    const before = cluster.pod(object.metadata.uid)
    cluster.apply({ kind: 'Pod', is, object })
    waits.onPod(object.metadata.uid, before, is === 'gone' ? undefined : object)
  }

  function ask(
    object: object,
    kind: EndpointsKind = 'EndpointSlice',
    by = RULES,
    oldObject?: object,
  ): Promise<WaitOutcome> | undefined {
    return waits.settle(readReview(review({ kind, object, oldObject }))!, by, LONGEST_MS)
  }
  return {
    clock,
    show,
    ask,
    /** A write of the slice by its controller, by the pods that have these states. */
    slice: (...wishes: Wish[]) =>
      ask(
        slice(
          wishes.map(({ ready = true, ...more }, at) => endpoint(at + 1, { ready, serving: ready, ...more })),
          BY_CONTROLLER,
        ),
      ),
    endpoints: (...ready: boolean[]) =>
      ask(
        endpointsOf([
          {
            addresses: ready.flatMap((is, at) => (is ? [address(at + 1)] : [])),
            notReadyAddresses: ready.flatMap((is, at) => (is ? [] : [address(at + 1)])),
          },
        ]),
        'Endpoints',
      ),
  }
}

const [IN, OUT]: Wish[] = [{ ready: true }, { ready: false }]

test('a request waits until each of its pods is seen as it has them, and no longer', async () => {
  const { clock, show, slice: write } = start()
  for (const index of [1, 2, 3, 4]) show(index)
  show(3, { ready: false })
  const waiting = write(OUT!, OUT!, OUT!, IN!)!
  show(1, { ready: false })
  show(4)
  const race = Promise.race([waiting, Promise.resolve('waits')])
  expect(await race).toBe('waits')
  show(2, { ready: false })
  expect(await waiting).toBe('seen')
  expect(clock.pending()).toBe(0)
})

test('an endpoint whose pod is not seen yet waits for it', async () => {
  const { show, slice: write } = start()
  const waiting = write(OUT!)
  show(1, { ready: false })
  expect(await waiting).toBe('seen')
})

test('a pod that becomes ready, and one that is being deleted, are waited for', async () => {
  const { clock, show, slice: write } = start()
  show(1, { ready: false })
  await clock.advance(60_000)
  const ready = write(IN!)
  show(1)
  expect(await ready).toBe('seen')
  await clock.advance(60_000)
  const leaving = write({ ready: false, serving: true, terminating: true })
  show(1, { leaving: true })
  expect(await leaving).toBe('seen')
})

test('a request that agrees with the pods is decided at once', () => {
  const { show, slice: write, endpoints } = start()
  show(1)
  show(2, { ready: false })
  show(3, { leaving: true })
  expect(write(IN!, OUT!, { ready: false, serving: true, terminating: true })).toBeUndefined()
  expect(endpoints(true, false)).toBeUndefined()
})

test('the wait ends with its time, and is not repeated until the pod changes', async () => {
  const { clock, show, slice: write, endpoints } = start()
  show(1)
  const waiting = write(OUT!)
  await clock.advance(LONGEST_MS)
  expect(await waiting).toBe('timed-out')
  expect(write(OUT!)).toBeUndefined()
  // Endpoints tell of the pod in their own way.
  const other = endpoints(false)
  await clock.advance(LONGEST_MS)
  expect(await other).toBe('timed-out')
  expect(endpoints(false)).toBeUndefined()
  show(1)
  await clock.advance(60_000)
  const again = write(OUT!)
  show(1, { ready: false })
  expect(await again).toBe('seen')
})

test('a controller that is behind this process is not waited for', async () => {
  const { clock, show, slice: write, endpoints } = start()
  show(1)
  show(1, { ready: false })
  expect([write(IN!), endpoints(true)]).toEqual([undefined, undefined])
  show(2)
  show(2, { leaving: true })
  expect([write(OUT!, IN!), endpoints(false, true)]).toEqual([undefined, undefined])
  show(1, {}, 'gone')
  expect([write(OUT!), endpoints(false)]).toEqual([undefined, undefined])
  // A controller is not behind for long: another pod event is missing.
  show(1, { ready: false })
  await clock.advance(60_000)
  const waiting = write(IN!)
  show(1)
  expect(await waiting).toBe('seen')
})

test('a pod that goes while a request waits for it is waited for no longer', async () => {
  const { show, slice: write } = start()
  show(1)
  const waiting = write(OUT!)
  show(1, {}, 'gone')
  expect(await waiting).toBe('seen')
})

test('endpoints of a Service that publishes pods that are not ready do not wait for their readiness', () => {
  const { show, slice: write, endpoints } = start({ publishes: true })
  show(1, { ready: false })
  expect([write({ ready: true, serving: false }), endpoints(true)]).toEqual([undefined, undefined])
})

test('objects that no controller of Kubernetes makes do not wait, nor do rules that no pod changes', async () => {
  const { clock, show, ask } = start()
  show(1)
  const bySomebody = slice([endpoint(1, { ready: false })])
  expect(ask(slice([{ addresses: 'none' }], BY_CONTROLLER))).toBeUndefined()
  const unselected = { ...endpointsOf([{ notReadyAddresses: [address(1)] }]), metadata: { name: 'other', namespace: 'shop' } }
  expect([ask(bySomebody), ask(unselected, 'Endpoints')]).toEqual([undefined, undefined])
  const object = slice([endpoint(1, { ready: false })], BY_CONTROLLER)
  const byAddress = '  - {name: x, when: endpoint.address == "10.0.0.9", effect: notReady}'
  expect(ask(object, 'EndpointSlice', rules(byAddress))).toBeUndefined()
  const audit = rules('  - {use: upgrading-not-ready}', 'audit')
  expect(ask(object, 'EndpointSlice', audit)).toBeUndefined()
  // Controls.
  for (const when of ['exists(pod)', 'readyPodsOf(service) > 2']) {
    show(1)
    const waiting = ask(object, 'EndpointSlice', rules(`  - {name: x, when: ${when}, effect: notReady}`))
    await clock.advance(LONGEST_MS)
    expect(await waiting).toBe('timed-out')
  }
})

test('an endpoint that the write leaves as it is stored does not wait', async () => {
  const { show, ask } = start()
  show(1)
  show(2)
  // A rule has made the first one not ready.
  const old = slice([endpoint(1, { ready: false }), endpoint(2, { ready: true })], BY_CONTROLLER)
  const marked = { ...BY_CONTROLLER, metadata: { ...BY_CONTROLLER.metadata, annotations: { mine: 'x' } } }
  expect(ask({ ...old, ...marked }, 'EndpointSlice', RULES, old)).toBeUndefined()
  const write = slice([endpoint(1, { ready: false }), endpoint(2, { ready: false })], BY_CONTROLLER)
  const waiting = ask(write, 'EndpointSlice', RULES, old)
  show(2, { ready: false })
  expect(await waiting).toBe('seen')
})

test('only so many requests wait at the same time', async () => {
  const { clock, show, slice: write } = start({ mostWaiting: 2 })
  show(1)
  const all = Promise.all([write(OUT!), write(OUT!), write(OUT!)])
  await clock.advance(LONGEST_MS)
  expect(await all).toEqual(['timed-out', 'timed-out', 'crowded'])
  show(1)
  const next = write(OUT!)
  await clock.advance(LONGEST_MS)
  expect(await next).toBe('timed-out')
})
