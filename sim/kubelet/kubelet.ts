import type { Clock } from '../../src/ports/clock.ts'
import type { Random } from '../../src/ports/random.ts'
import { isSameJson } from '../api-server/same-json.ts'
import type { Store, StoredWrite } from '../api-server/server.ts'
import { createBackOff } from './back-off.ts'
import type { Behaviour } from './behaviour.ts'
import { type Delays, draw } from './delays.ts'
import type { Images } from './images.ts'
import { type Pod, isFinished } from './pod.ts'
import { type PodWorker, createPodWorker } from './pod-worker.ts'
import { type Process, type Timer, startProcess } from './process.ts'
import type { Runtime } from './runtime.ts'

/** The kubelet of one node. Looks, probes and heartbeats are calculated instead of run, so it costs nothing while nothing changes. */
export interface Kubelet {
  /** Takes a write of a pod of this node, as the API server stored it. */
  onWrite(write: StoredWrite): void
  /** Stops the process of the kubelet, which is then silent. Containers run on. */
  pause(): void
  resume(): void
  /** Ends the process of the kubelet. A new process begins a moment later. */
  restart(): void
  /** True while the kubelet reports to the API server. */
  readonly isAlive: boolean
}

export interface KubeletOptions {
  nodeName: string
  nodeAddress: string
  clock: Clock
  random: Random
  store: Store
  images: Images
  delays: Delays
  behaviour: Behaviour
  instant: () => string
  /** Starts the runtime of the node. The runtime calls back `onChange` and `onAnswer`. */
  startRuntime: (on: { onChange: (uid: string) => void; onAnswer: (uid: string, name: string) => void }) => Runtime
  /** Tells that the kubelet has begun or ceased to report. */
  onAlive: (isAlive: boolean) => void
}

const RECONCILE_MS = 10_000

export function startKubelet(options: KubeletOptions): Kubelet & { runtime: Runtime } {
  const { clock, random, store, delays, nodeName } = options
  const runtime = options.startRuntime({
    onChange(uid) {
      // The next process begins with a look at all containers.
      if (isRestarting) return
      changed.add(uid)
      scheduleLook()
    },
    onAnswer: (uid, name) => workers.get(uid)?.answerChanged(name),
  })
  const workers = new Map<string, PodWorker>()
  /** Pods whose containers changed since the last look, and pods whose workers wait for the next look. */
  const changed = new Set<string>()
  const waiting = new Set<string>()
  /** Pods whose containers may be on this node, also after the end of this process: the runtime has their names. */
  const known = new Map<string, Pod>()
  const deliveries = new Map<string, { key: [string, string]; spec: boolean }>()
  const period = draw(random, delays.relistPeriod)
  let phase = clock.now() - random.next() * period
  let process: Process
  let look: Timer | undefined
  let began = clock.now()
  let isRestarting = false

  function live(): void {
    process = startProcess(clock)
    began = clock.now()
    phase = clock.now() - random.next() * period
    const crashes = createBackOff(() => clock.now())
    const pulls = createBackOff(() => clock.now())
    const services = {
      ...options,
      runtime,
      process,
      crashes,
      pulls,
      startedAt: began,
      lookedAt,
      lookNext(uid: string) {
        waiting.add(uid)
        scheduleLook()
      },
      untilReconcile: () => RECONCILE_MS - ((clock.now() - phase) % RECONCILE_MS) + random.next(),
      onEnd(uid: string) {
        workers.delete(uid)
        known.delete(uid)
      },
    }
    makeWorker = (pod) => createPodWorker(pod, services)
  }
  let makeWorker: (pod: Pod) => PodWorker
  live()

  /** Returns the time of the last look. Looks come once a second, also where the simulation skips them. */
  function lookedAt(): number {
    return phase + Math.floor((clock.now() - phase) / period) * period
  }

  function scheduleLook(): void {
    if (look !== undefined) return
    look = process.later(lookedAt() + period - clock.now(), () => {
      look = undefined
      const both = new Set([...changed, ...waiting])
      const news = new Set(changed)
      changed.clear()
      waiting.clear()
      for (const uid of both) workers.get(uid)?.looked(runtime.look(uid), news.has(uid))
    })
  }

  function deliver(uid: string): void {
    const delivery = deliveries.get(uid)
    deliveries.delete(uid)
    if (delivery === undefined) return
    const pod = store.get('pods', ...delivery.key) as Pod | undefined
    const worker = workers.get(uid)
    if (pod?.metadata.uid !== uid) {
      worker?.removed()
      return
    }
    if (worker === undefined) {
      if (isFinished(pod) && pod.metadata.deletionTimestamp === undefined) return
      addWorker(pod).update(pod)
    } else if (delivery.spec) worker.update(pod)
    else worker.statusWritten(pod)
  }

  function addWorker(pod: Pod): PodWorker {
    const worker = makeWorker(pod)
    workers.set(pod.metadata.uid, worker)
    known.set(pod.metadata.uid, pod)
    return worker
  }

  function startAgain(): void {
    isRestarting = false
    live()
    const pods = (store.list('pods') as Pod[]).filter(({ spec }) => spec.nodeName === nodeName)
    const uids = new Set(pods.map(({ metadata }) => metadata.uid))
    // Pods that left the API meanwhile.
    for (const [uid, pod] of known) if (!uids.has(uid)) addWorker(pod).removed()
    for (const pod of pods) {
      if (!isFinished(pod) || pod.metadata.deletionTimestamp !== undefined) addWorker(pod).update(pod)
    }
  }

  return {
    runtime,
    onWrite({ before, after, by }) {
      const uid = (after ?? before)!.metadata.uid
      const spec = after === undefined || before === undefined || differs(before as Pod, after as Pod)
      if (!spec && by === 'kubelet') return
      if (isRestarting) return
      const { namespace = 'default', name } = (after ?? before)!.metadata
      const waits = deliveries.get(uid)
      if (waits !== undefined) {
        waits.spec ||= spec
        return
      }
      deliveries.set(uid, { key: [namespace, name], spec })
      process.later(draw(random, delays.deliver), () => deliver(uid))
    },
    pause() {
      process.pause()
      options.onAlive(false)
    },
    resume() {
      process.resume()
      options.onAlive(true)
    },
    restart() {
      process.end()
      isRestarting = true
      look = undefined
      workers.clear()
      changed.clear()
      waiting.clear()
      deliveries.clear()
      clock.setTimeout(startAgain, draw(random, delays.restart))
    },
    get isAlive() {
      return !process.isPaused && !isRestarting
    },
  }
}

/** Reports whether the kubelet sees a change of the pod. A change of the status does not count. */
function differs(before: Pod, after: Pod): boolean {
  return (
    !isSameJson(before.spec, after.spec) ||
    !isSameJson(before.metadata.labels, after.metadata.labels) ||
    !isSameJson(before.metadata.annotations, after.metadata.annotations) ||
    before.metadata.deletionTimestamp !== after.metadata.deletionTimestamp ||
    before.metadata.deletionGracePeriodSeconds !== after.metadata.deletionGracePeriodSeconds
  )
}
