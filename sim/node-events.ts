import type { Clock } from '../src/ports/clock.ts'
import { timestamp } from './api-server/identity.ts'
import type { KubeObject, Store } from './api-server/server.ts'
import type { SimulatedCluster } from './cluster.ts'
import type { Pod } from './kubelet/pod.ts'

const HOUR_MS = 3_600_000

/** The container that an Event is about, and the component that reports it. */
interface About {
  container?: string
  component?: string
}

/**
 * Records the Events of kubelet and scheduler, and keeps them for an hour.
 * @param deliver stores an Event, late or not at all; at once unless given
 */
export function recordNodeEvents(
  cluster: SimulatedCluster,
  store: Store,
  clock: Clock,
  deliver: (store: () => void) => void = (now) => now(),
): void {
  const pods = new Map<string, Pod>()
  /** The image that each container was started from. */
  const images = new Map<string, string>()
  /** The recorded Events, with the oldest first. */
  const recorded = new Map<string, { namespace: string; name: string; atMs: number }>()

  function record(pod: Pod, type: 'Normal' | 'Warning', reason: string, message: string, about: About = {}): void {
    const at = timestamp(clock.wallNow())
    deliver(() => put(pod, type, reason, message, at, about))
  }

  function put(
    pod: Pod,
    type: string,
    reason: string,
    message: string,
    at: string,
    { container, component = 'kubelet' }: About,
  ): void {
    const { uid, name: podName, namespace = 'default' } = pod.metadata
    forgetOld()
    const name = `${podName}.${hashOf(`${uid} ${container} ${reason} ${message}`)}`
    const fieldPath = container === undefined ? {} : { fieldPath: `spec.containers{${container}}` }
    recorded.delete(name)
    recorded.set(name, { namespace, name, atMs: clock.now() })
    const again = (event: KubeObject): KubeObject => ({ ...event, count: Number(event['count']) + 1, lastTimestamp: at })
    if (store.update('events', namespace, name, again, component) !== undefined) return
    const event = {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name, namespace },
      involvedObject: { apiVersion: 'v1', kind: 'Pod', name: podName, namespace, uid, ...fieldPath },
      type,
      reason,
      message,
      source: { component, host: pod.spec.nodeName },
      count: 1,
      firstTimestamp: at,
      lastTimestamp: at,
    }
    store.create('events', event, component)
  }

  function forgetOld(): void {
    for (const { namespace, name, atMs } of recorded.values()) {
      if (clock.now() - atMs < HOUR_MS) return
      recorded.delete(name)
      store.remove('events', namespace, name, 'kube-apiserver')
    }
  }

  cluster.onFact((fact) => {
    const pod = pods.get(fact.uid)
    if (pod === undefined) return
    if (fact.type === 'containerStarted') {
      const { container, id, image } = fact
      images.set(id, image)
      record(pod, 'Normal', 'Pulled', `Container image "${image}" already present on machine`, { container })
      record(pod, 'Normal', 'Started', `Container ${container} started`, { container })
    } else if (fact.type === 'containerStopping') {
      const { container, id } = fact
      const asked = pod.spec.containers.find(({ name }) => name === container)?.image
      const isReplaced = pod.metadata.deletionTimestamp === undefined && asked !== undefined && asked !== images.get(id)
      const why = isReplaced ? `Container ${container} definition changed, will be restarted` : `Stopping container ${container}`
      record(pod, 'Normal', 'Killing', why, { container })
    } else if (fact.type === 'containerExited') images.delete(fact.id)
    else if (fact.type === 'sandboxDied' && pod.metadata.deletionTimestamp === undefined) {
      record(pod, 'Normal', 'SandboxChanged', 'Pod sandbox changed, it will be killed and re-created.')
    }
  })

  store.subscribe((resource, { before, after }) => {
    if (resource !== 'pods') return
    const [was, is] = [before as Pod | undefined, after as Pod | undefined]
    if (is === undefined) {
      pods.delete(was!.metadata.uid)
      return
    }
    pods.set(is.metadata.uid, is)
    const { nodeName } = is.spec
    if (nodeName !== undefined && was?.spec.nodeName === undefined) {
      const message = `Successfully assigned ${is.metadata.namespace}/${is.metadata.name} to ${nodeName}`
      record(is, 'Normal', 'Scheduled', message, { component: 'default-scheduler' })
    }
    const former = new Set(troubles(was).map(({ message }) => message))
    for (const { reason, message } of troubles(is)) if (!former.has(message)) record(is, 'Warning', reason, message)
  })
}

/** Returns the reasons why containers of a pod do not run. */
function troubles(pod: Pod | undefined): { reason: string; message: string }[] {
  return (pod?.status?.containerStatuses ?? []).flatMap(({ state: { waiting } }) =>
    waiting?.message === undefined
      ? []
      : [{ reason: waiting.reason?.endsWith('BackOff') ? 'BackOff' : 'Failed', message: waiting.message }],
  )
}

/** Returns a short name for a text, by FNV-1a. */
function hashOf(text: string): string {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return (hash >>> 0).toString(16)
}
