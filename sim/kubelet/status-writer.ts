import type { Random } from '../../src/ports/random.ts'
import type { Store } from '../api-server/server.ts'
import { type Delays, draw } from './delays.ts'
import type { Pod, PodCondition, PodStatus } from './pod.ts'
import type { Process } from './process.ts'
import { isSameJson } from '../api-server/same-json.ts'

/** Writes one pod's status into the API: late, one after another, and not always each of them. */
export interface StatusWriter {
  /** The newest status there is; what is not written yet may be skipped. */
  put(status: PodStatus): void
  /** The pod is over: removes it once its last status is written. */
  finish(): void
  /** Puts right what somebody else wrote over it. */
  reconcile(): void
}

export interface StatusWriterOptions {
  uid: string
  namespace: string
  name: string
  store: Store
  process: Process
  random: Random
  delays: Delays
  onRemoved: () => void
}

const KUBELET_CONDITIONS = new Set([
  'PodScheduled',
  'Ready',
  'Initialized',
  'ContainersReady',
  'PodReadyToStartContainers',
  'DisruptionTarget',
])

export function createStatusWriter(options: StatusWriterOptions): StatusWriter {
  const { uid, namespace, name, store, process, random, delays } = options
  let newest: PodStatus | undefined
  let version = 0
  let written = 0
  let writing = false
  let finished = false

  function next(): void {
    if (writing || newest === undefined || (written === version && !finished)) return
    writing = true
    const taken = { status: newest, version, finished }
    const waits = random.next() < delays.queuedShare
    process.later(draw(random, delays.publish) + (waits ? draw(random, delays.queue) : 0), () => {
      if (waits) Object.assign(taken, { status: newest, version, finished })
      write(taken.status)
      written = taken.version
      writing = false
      if (taken.finished) remove()
      else next()
    })
  }

  function write(status: PodStatus): void {
    store.update('pods', namespace, name, (now) => (now.metadata.uid === uid ? merged(now as Pod, status) : undefined), 'kubelet')
  }

  function remove(): void {
    const now = store.get('pods', namespace, name)
    if (now?.metadata.uid === uid && now.metadata.deletionTimestamp !== undefined) {
      store.remove('pods', namespace, name, 'kubelet')
    }
    options.onRemoved()
  }

  return {
    put(status) {
      newest = status
      version++
      next()
    },
    finish() {
      finished = true
      next()
    },
    reconcile() {
      if (newest === undefined || writing) return
      version++
      next()
    },
  }
}

/** The kubelet's own fields; conditions of others stay. */
function merged(now: Pod, status: PodStatus): Pod {
  const others = (now.status?.conditions ?? []).filter((one: PodCondition) => !KUBELET_CONDITIONS.has(one.type))
  const next = others.length === 0 ? status : { ...status, conditions: [...others, ...status.conditions] }
  // What has come with the pod, as its QoS class, stays too.
  const whole = { ...now.status, ...next }
  return isSameJson(now.status, whole) ? now : { ...now, status: whole }
}
