import type { KubeObject } from '../cluster/kube-api.ts'
import { daemonSet, deployment, pod, service, statefulSet } from '../cluster/manifests.ts'
import type { PodOptions } from '../cluster/manifests.ts'
import type { Bed, JsonPatch, Scenario } from './bed.ts'

const V1 = 'localhost/app:v1'
const V2 = 'localhost/app:v2'
const V3 = 'localhost/app:v3'
const BAD = 'localhost/app:bad'
const CRASH = 'localhost/app:crash'
/** Longer than one look of the kubelet at its containers, and than whatever follows a change at once. */
const QUIET_MS = 2_500

/* What the kubelet, the node controller, the owners and the endpoint controller do, told as a story that any cluster can play. */

export const scenarios: Scenario[] = [
  {
    name: 'pod-starts',
    async play(bed) {
      await bed.apply(service({ name: 'web', namespace: bed.namespace }), web(bed, { readyAfter: 2 }))
      await bed.until('Pod', 'web', isReady)
      await bed.pass(QUIET_MS)
    },
  },
  {
    name: 'image-change',
    async play(bed) {
      await withPod(bed, { readyAfter: 2 })
      await setImage(bed, 'web', V2)
      await bed.until('Pod', 'web', runs(V2))
      await bed.pass(QUIET_MS)
    },
  },
  {
    name: 'image-change-without-probe',
    async play(bed) {
      await withPod(bed, { probe: false })
      await setImage(bed, 'web', V2)
      await bed.until('Pod', 'web', runs(V2))
      await bed.pass(QUIET_MS)
    },
  },
  {
    name: 'same-digest',
    async play(bed) {
      await withPod(bed, { image: V2, readyAfter: 2 })
      await setImage(bed, 'web', 'localhost/app:v2-again')
      await bed.until('Pod', 'web', (one) => isReady(one) && restarts(one) === 1)
      await bed.pass(QUIET_MS)
    },
  },
  {
    name: 'bad-image-then-good',
    async play(bed) {
      await withPod(bed, { readyAfter: 2 })
      await setImage(bed, 'web', BAD)
      // CrashLoopBackOff comes within a second where a probe's result asks for one more sync, and else not.
      await bed.until('Pod', 'web', waits('ImagePullBackOff', 'CrashLoopBackOff'))
      await bed.pass(QUIET_MS)
      await setImage(bed, 'web', V2)
      await bed.until('Pod', 'web', runs(V2))
      await bed.pass(QUIET_MS)
    },
  },
  {
    name: 'bad-image-without-probe',
    async play(bed) {
      await withPod(bed, { probe: false })
      await setImage(bed, 'web', BAD)
      await bed.until('Pod', 'web', waits('ImagePullBackOff'))
      await setImage(bed, 'web', V1)
      await bed.until('Pod', 'web', runs(V1))
      await bed.pass(QUIET_MS)
    },
  },
  {
    name: 'crashing-image-then-good',
    async play(bed) {
      await withPod(bed, { readyAfter: 2 })
      await setImage(bed, 'web', CRASH)
      await bed.until('Pod', 'web', waits('CrashLoopBackOff'))
      await setImage(bed, 'web', V2)
      await bed.until('Pod', 'web', runs(V2))
      await bed.pass(QUIET_MS)
    },
  },
  {
    name: 'pre-stop',
    async play(bed) {
      await withPod(bed, { readyAfter: 2, preStopSeconds: 3, terminationGracePeriodSeconds: 6 })
      await setImage(bed, 'web', V2)
      await bed.until('Pod', 'web', runs(V2))
      await bed.pass(QUIET_MS)
    },
  },
  {
    name: 'crash',
    async play(bed) {
      await withPod(bed, { readyAfter: 2 })
      await bed.crash('web', 'app')
      await bed.until('Pod', 'web', (one) => isReady(one) && restarts(one) === 1)
      await bed.pass(QUIET_MS)
    },
  },
  {
    name: 'crash-without-probe',
    async play(bed) {
      await withPod(bed, { probe: false })
      await bed.crash('web', 'app')
      await bed.until('Pod', 'web', (one) => isReady(one) && restarts(one) === 1)
      await bed.pass(QUIET_MS)
    },
  },
  {
    name: 'crash-twice',
    async play(bed) {
      await withPod(bed, { readyAfter: 1 })
      await bed.crash('web', 'app')
      await bed.until('Pod', 'web', (one) => isReady(one) && restarts(one) === 1)
      await bed.pass(QUIET_MS)
      await bed.crash('web', 'app')
      await bed.until('Pod', 'web', (one) => isReady(one) && restarts(one) === 2)
      await bed.pass(QUIET_MS)
    },
  },
  {
    name: 'crash-then-patch',
    async play(bed) {
      await withPod(bed, { readyAfter: 2 })
      await bed.crash('web', 'app')
      await setImage(bed, 'web', V2)
      await bed.until('Pod', 'web', runs(V2))
      await bed.pass(QUIET_MS)
    },
  },
  {
    name: 'patch-then-crash',
    async play(bed) {
      await withPod(bed, { readyAfter: 2, preStopSeconds: 4, terminationGracePeriodSeconds: 8 })
      await setImage(bed, 'web', V2)
      await bed.pass(1_500)
      await bed.crash('web', 'app')
      await bed.until('Pod', 'web', runs(V2))
      await bed.pass(QUIET_MS)
    },
  },
  {
    name: 'second-patch-in-flight',
    async play(bed) {
      await withPod(bed, { readyAfter: 2 })
      await setImage(bed, 'web', V2)
      await bed.until('Pod', 'web', hasBegun(2))
      await setImage(bed, 'web', V3)
      await bed.until('Pod', 'web', runs(V3))
      await bed.pass(QUIET_MS)
    },
  },
  {
    name: 'annotation-and-status',
    async play(bed) {
      await withPod(bed, { readyAfter: 1, readinessGates: ['example.org/open'] })
      await bed.patch('Pod', 'web', [{ op: 'add', path: '/metadata/annotations', value: { note: 'one' } }])
      await bed.pass(QUIET_MS)
      const own = { type: 'example.org/journal', status: 'True', reason: 'Drain', lastTransitionTime: '2026-01-01T00:00:00Z' }
      await bed.patch('Pod', 'web', [{ op: 'add', path: '/status/conditions/-', value: own }], 'status')
      await bed.pass(QUIET_MS)
      const open = { ...own, type: 'example.org/open', reason: 'Open' }
      await bed.patch('Pod', 'web', [{ op: 'add', path: '/status/conditions/-', value: open }], 'status')
      await bed.until('Pod', 'web', isReady)
      await bed.pass(QUIET_MS)
    },
  },
  {
    name: 'two-containers',
    async play(bed) {
      await withPod(bed, { readyAfter: 2, sidecar: 'localhost/sidecar:v1' })
      await bed.patch('Pod', 'web', [
        { op: 'replace', path: '/spec/containers/0/image', value: V2 },
        { op: 'replace', path: '/spec/containers/1/image', value: 'localhost/sidecar:v2' },
      ])
      await bed.until('Pod', 'web', runs(V2))
      await bed.pass(QUIET_MS)
    },
  },
  {
    name: 'one-of-two-containers',
    async play(bed) {
      await withPod(bed, { readyAfter: 2, sidecar: 'localhost/sidecar:v1' })
      await setImage(bed, 'web', 'localhost/sidecar:v2', 1)
      await bed.until('Pod', 'web', (one) => isReady(one) && restarts(one, 'sidecar') === 1)
      await bed.pass(QUIET_MS)
    },
  },
  {
    name: 'native-sidecar',
    async play(bed) {
      await bed.apply(nativeSidecar(bed))
      await bed.until('Pod', 'web', isReady)
      await settle(bed)
      await bed.patch('Pod', 'web', [{ op: 'replace', path: '/spec/initContainers/0/image', value: 'localhost/sidecar:v2' }])
      await bed.until('Pod', 'web', (one) => isReady(one) && one.status.initContainerStatuses[0].restartCount === 1)
      await bed.pass(QUIET_MS)
    },
  },
  {
    name: 'host-network',
    async play(bed) {
      await withPod(bed, { readyAfter: 2, hostNetwork: true, port: 18_080 })
      await setImage(bed, 'web', V2)
      await bed.until('Pod', 'web', runs(V2))
      await bed.pass(QUIET_MS)
    },
  },
  {
    name: 'sandbox-dies',
    async play(bed) {
      await withPod(bed, { readyAfter: 2 })
      const { status } = await bed.get('Pod', 'web')
      await bed.killSandbox('web')
      await bed.until('Pod', 'web', (one) => isReady(one) && one.status.podIP !== status.podIP && restarts(one) === 1)
      await bed.pass(QUIET_MS)
    },
  },
  {
    name: 'delete',
    async play(bed) {
      await withPod(bed, { readyAfter: 1 })
      await bed.remove('Pod', 'web')
      await bed.until('Pod', 'web', (one) => one === undefined)
      await bed.pass(QUIET_MS)
    },
  },
  {
    name: 'delete-during-upgrade',
    async play(bed) {
      // Long enough that it is not ready before it goes.
      await bed.apply(...set(bed, { replicas: 1, readyAfter: 6 }))
      await bed.until('Pod', 'web-0', isReady)
      await settle(bed)
      const { metadata } = await bed.get('Pod', 'web-0')
      await setImage(bed, 'web-0', V2)
      await bed.until('Pod', 'web-0', (one) => restarts(one) === 1)
      await bed.remove('Pod', 'web-0')
      await bed.until('Pod', 'web-0', (one) => one !== undefined && one.metadata.uid !== metadata.uid && isReady(one))
      await bed.pass(QUIET_MS)
    },
  },
  {
    name: 'stateful-set',
    async play(bed) {
      await bed.apply(...set(bed, { replicas: 2, readyAfter: 1 }))
      await bed.until('StatefulSet', 'web', (one) => one?.status?.readyReplicas === 2)
      await settle(bed)
      await rollOver(bed, 'StatefulSet', 'web', V2)
      // And back: the old revision's name comes again.
      await rollOver(bed, 'StatefulSet', 'web', V1)
    },
  },
  {
    name: 'daemon-set',
    async play(bed) {
      await bed.apply(
        service({ name: 'agent', namespace: bed.namespace }),
        daemonSet({ name: 'agent', namespace: bed.namespace, readyAfter: 1 }),
      )
      await bed.until('DaemonSet', 'agent', (one) => one?.status?.numberReady === 1)
      await settle(bed)
      await rollOver(bed, 'DaemonSet', 'agent', V2)
      await rollOver(bed, 'DaemonSet', 'agent', V1)
    },
  },
  {
    name: 'deployment',
    async play(bed) {
      await bed.apply(deployment({ name: 'shop', namespace: bed.namespace, replicas: 1, readyAfter: 1 }))
      await bed.until('Deployment', 'shop', (one) => one?.status?.readyReplicas === 1)
      await settle(bed)
      const [first] = await bed.list('Pod')
      await setImage(bed, first.metadata.name, V2)
      await bed.until('Pod', first.metadata.name, runs(V2))
      await bed.pass(QUIET_MS)
      await bed.remove('Pod', first.metadata.name)
      await bed.until('Pod', first.metadata.name, (gone) => gone === undefined)
      await bed.until('Deployment', 'shop', (one) => one?.status?.readyReplicas === 1 && one.status.replicas === 1)
      await bed.pass(QUIET_MS)
    },
  },
  {
    name: 'late-heartbeat',
    alone: true,
    async play(bed) {
      await withPod(bed, { readyAfter: 1 })
      await bed.kubelet.pause()
      await bed.until('Pod', 'web', (one) => !isReady(one))
      await bed.pass(2_000)
      await bed.kubelet.resume()
      await bed.until('Pod', 'web', isReady)
      await bed.pass(QUIET_MS)
    },
  },
  {
    name: 'kubelet-restarts',
    alone: true,
    async play(bed) {
      await withPod(bed, { readyAfter: 1 })
      await bed.kubelet.restart()
      await bed.pass(8_000)
      await bed.until('Pod', 'web', isReady)
      await setImage(bed, 'web', V2)
      await bed.until('Pod', 'web', runs(V2))
      await bed.pass(QUIET_MS)
    },
  },
  {
    name: 'kubelet-stopped-at-the-patch',
    alone: true,
    async play(bed) {
      await withPod(bed, { readyAfter: 1 })
      await bed.kubelet.pause()
      await setImage(bed, 'web', V2)
      await bed.pass(3_000)
      await bed.kubelet.resume()
      await bed.until('Pod', 'web', runs(V2))
      await bed.pass(QUIET_MS)
    },
  },
]

/** One pod behind a Service, at rest. */
async function withPod(bed: Bed, options: Omit<PodOptions, 'name' | 'namespace'>): Promise<void> {
  await bed.apply(service({ name: 'web', namespace: bed.namespace, port: options.port ?? 8_080 }), web(bed, options))
  await bed.until('Pod', 'web', options.readinessGates === undefined ? isReady : areContainersReady)
  await settle(bed)
}

function web(bed: Bed, options: Omit<PodOptions, 'name' | 'namespace'>): KubeObject {
  return pod({ name: 'web', namespace: bed.namespace, labels: { app: 'web' }, ...options })
}

function set(bed: Bed, options: { replicas: number; readyAfter: number }): KubeObject[] {
  const { namespace } = bed
  return [service({ name: 'web', namespace }), statefulSet({ name: 'web', namespace, ...options })]
}

/** The second container as a native sidecar. */
function nativeSidecar(bed: Bed): KubeObject {
  const made = web(bed, { readyAfter: 2, sidecar: 'localhost/sidecar:v1' })
  const [app, sidecar] = made.spec.containers
  made.spec.containers = [app]
  made.spec.initContainers = [{ ...sidecar, restartPolicy: 'Always' }]
  return made
}

async function settle(bed: Bed): Promise<void> {
  await bed.pass(QUIET_MS)
  await bed.begin()
}

/** The template first, then each pod with the label of its revision: as sluice does it. */
async function rollOver(bed: Bed, kind: 'StatefulSet' | 'DaemonSet', name: string, image: string): Promise<void> {
  await bed.patch(kind, name, [{ op: 'replace', path: '/spec/template/spec/containers/0/image', value: image }])
  await bed.until(kind, name, (one) => one?.status?.observedGeneration === one?.metadata.generation)
  await bed.pass(QUIET_MS)
  const label = await revisionLabel(bed, kind, name)
  for (const { metadata } of await bed.list('Pod')) {
    await setImage(bed, metadata.name, image, 0, [
      { op: 'replace', path: '/metadata/labels/controller-revision-hash', value: label },
    ])
    await bed.until('Pod', metadata.name, runs(image))
    await bed.pass(QUIET_MS)
  }
}

async function revisionLabel(bed: Bed, kind: 'StatefulSet' | 'DaemonSet', name: string): Promise<string> {
  if (kind === 'StatefulSet') return (await bed.get(kind, name)).status.updateRevision
  const revisions = await bed.list('ControllerRevision')
  const newest = revisions.reduce((best, one) => (best.revision > one.revision ? best : one))
  return newest.metadata.labels['controller-revision-hash']
}

async function setImage(bed: Bed, name: string, image: string, index = 0, more: JsonPatch = []): Promise<void> {
  await bed.patch('Pod', name, [{ op: 'replace', path: `/spec/containers/${index}/image`, value: image }, ...more])
}

function is(one: KubeObject, type: string): boolean {
  return (one?.status?.conditions ?? []).some((each: KubeObject) => each.type === type && each.status === 'True')
}

function isReady(one: KubeObject): boolean {
  return is(one, 'Ready')
}

function areContainersReady(one: KubeObject): boolean {
  return is(one, 'ContainersReady')
}

function statusOf(one: KubeObject, container: string): KubeObject {
  return one?.status?.containerStatuses?.find(({ name }: KubeObject) => name === container)
}

function restarts(one: KubeObject, container = 'app'): number {
  return statusOf(one, container)?.restartCount ?? 0
}

/** A kubelet before 1.34 names no generation: the end of the old container tells that the kubelet has seen the change. */
function hasBegun(generation: number): (one: KubeObject) => boolean {
  return (one) => {
    const observed = one?.status?.observedGeneration
    return observed === undefined ? !isReady(one) : observed === generation
  }
}

function waits(...reasons: string[]): (one: KubeObject) => boolean {
  return (one) => reasons.includes(statusOf(one, 'app')?.state.waiting?.reason)
}

function runs(image: string): (one: KubeObject) => boolean {
  return (one) => {
    const status = statusOf(one, 'app')
    return isReady(one) && status?.state.running !== undefined && status.image === image
  }
}
