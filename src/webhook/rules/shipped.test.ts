import { describe, expect, test } from 'vitest'
import { byKubelet, READY_FIELDS, writtenBy } from '../../endpoints/testing/managed-fields.ts'
import { before, condition, decided, endpoint, node, NOW, pod, service, slice } from '../decide/testing/world.ts'

const READY = { ready: true, serving: true, terminating: false }
const NOT_READY = { ready: false, serving: false, terminating: false }
const wish = slice([endpoint(1, NOT_READY)])
const was = slice([endpoint(1, READY)])

const CONTROLLER = writtenBy('kube-controller-manager', READY_FIELDS)

/** A pod whose node does not report, since so many milliseconds. */
function silenced(
  index: number,
  ms = 60_000,
  more: object = {},
  managedFields: object[] = [byKubelet('Ready'), CONTROLLER],
): object {
  const own = pod(index, {
    status: {
      conditions: [
        condition('ContainersReady', 'True'),
        condition('Ready', 'False', { lastTransitionTime: before(ms), ...more }),
      ],
    },
  }) as { metadata: object }
  return { ...own, metadata: { ...own.metadata, managedFields } }
}

describe('late-heartbeat', () => {
  const rule = (floor: string | number): string => `  - {use: late-heartbeat, with: {within: 5m, floor: ${floor}}}`
  const kept = (floor: string | number, pods: readonly object[], nowAt = NOW): boolean =>
    decided(rule(floor), wish, { objects: [...pods, service, node], old: was, nowAt }).patch.length > 0

  test('a pod keeps its place while less than the floor of the pods are ready', () => {
    const pods = [silenced(1), silenced(2), pod(3), pod(4)]
    expect(kept(3, pods)).toBe(true)
    expect(kept(2, pods)).toBe(false)
    expect(kept('51%', pods)).toBe(true)
    expect(kept('50%', pods)).toBe(false)
  })

  test('for `within`, and no longer', () => {
    const pods = [silenced(1)]
    const answer = decided(rule(1), wish, { objects: [...pods, service, node], old: was })
    expect(answer.decision).toMatchObject({
      againAt: NOW + 240_000,
      endpoints: [{ effect: 'keepPrevious', until: NOW + 240_000 }],
    })
    expect(kept(1, pods, NOW + 239_999)).toBe(true)
    expect(kept(1, pods, NOW + 240_000)).toBe(false)
  })

  test('not where the kubelet itself says that the pod is not ready', () => {
    expect(kept(1, [silenced(1, 60_000, { reason: 'ContainersNotReady' }, [byKubelet('Ready')])])).toBe(false)
    expect(kept(1, [silenced(1, 60_000, {}, [byKubelet('Ready')])])).toBe(false)
    const failing = pod(1, { status: { conditions: [condition('ContainersReady', 'False'), condition('Ready', 'False')] } })
    expect(kept(1, [failing])).toBe(false)
    // Without managedFields, the form of the conditions tells.
    expect(kept(1, [silenced(1, 60_000, {}, [])])).toBe(true)
  })

  test('a Service that is not known decides nothing', () => {
    expect(decided(rule(1), wish, { objects: [silenced(1), node], old: was }).patch).toEqual([])
  })
})

describe('container-does-not-count', () => {
  const RULE = '  - use: container-does-not-count'
  interface Given {
    names?: string
    key?: string
    ready?: Record<string, boolean>
    spec?: object
    status?: object
    metadata?: object
  }
  const sidecar = ({
    names = 'proxy',
    key = 'sluice.dev/does-not-count',
    ready = { app: true, proxy: false },
    spec,
    status,
    metadata,
  }: Given = {}): object =>
    pod(1, {
      metadata: { name: 'web-1', namespace: 'shop', uid: 'uid-of-web-1', annotations: { [key]: names }, ...metadata },
      spec: { nodeName: 'node-1', containers: [{ name: 'app' }, { name: 'proxy' }], ...spec },
      status: {
        conditions: [condition('ContainersReady', 'False'), condition('Ready', 'False', { reason: 'ContainersNotReady' })],
        containerStatuses: Object.entries(ready).map(([name, is]) => ({ name, ready: is })),
        ...status,
      },
    })
  const isReady = (one: object, rule = RULE, objects = [node], object = wish): boolean =>
    decided(rule, object, { objects: [one, service, ...objects] }).patch.length > 0

  test('a pod is ready whose other containers are', () => {
    expect(isReady(sidecar())).toBe(true)
    expect(isReady(sidecar({ ready: { app: false, proxy: false } }))).toBe(false)
    expect(isReady(sidecar({ names: 'other' }))).toBe(false)
    expect(isReady(sidecar({ names: ' proxy , other' }))).toBe(true)
    expect(isReady(sidecar({ names: 'app,proxy', ready: { app: true, proxy: false } }))).toBe(false)
  })

  test('sidecars and readiness gates count', () => {
    const native = { initContainers: [{ name: 'mesh', restartPolicy: 'Always' }, { name: 'setup' }] }
    const statuses = (ready: boolean): object => ({
      initContainerStatuses: [
        { name: 'mesh', ready },
        { name: 'setup', ready: false },
      ],
    })
    expect(isReady(sidecar({ spec: native, status: statuses(true) }))).toBe(true)
    expect(isReady(sidecar({ spec: native, status: statuses(false) }))).toBe(false)
    expect(isReady(sidecar({ names: 'proxy,mesh', spec: native, status: statuses(false) }))).toBe(true)
    const gated = { readinessGates: [{ conditionType: 'example.com/gate' }] }
    expect(isReady(sidecar({ spec: gated }))).toBe(false)
    const conditions = [condition('ContainersReady', 'False'), condition('Ready', 'False'), condition('example.com/gate', 'True')]
    expect(isReady(sidecar({ spec: gated, status: { conditions } }))).toBe(true)
  })

  test('a node that does not report, a pod that does not run, or one that is being deleted stay not ready', () => {
    const silent = { metadata: { name: 'node-1' }, status: { conditions: [condition('Ready', 'Unknown')] } }
    expect(isReady(sidecar(), RULE, [silent])).toBe(false)
    expect(isReady(sidecar(), RULE, [])).toBe(false)
    expect(isReady(sidecar({ status: { phase: 'Pending' } }))).toBe(false)
    expect(isReady(sidecar({ metadata: { deletionTimestamp: before(0) } }))).toBe(false)
    expect(isReady(sidecar(), RULE, [node], slice([endpoint(1, { ...NOT_READY, terminating: true })]))).toBe(false)
  })

  test('the annotation has a name of choice', () => {
    const rule = `${RULE}\n    with: {annotation: example.com/aside}`
    expect(isReady(sidecar({ key: 'example.com/aside' }), rule)).toBe(true)
    expect(isReady(sidecar(), rule)).toBe(false)
  })
})
