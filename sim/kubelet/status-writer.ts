import type { Random } from '../../src/ports/random.ts'
import type { Store } from '../api-server/server.ts'
import { type Delays, draw } from './delays.ts'
import type { Pod, PodCondition, PodStatus } from './pod.ts'
import type { Process } from './process.ts'
import { isSameJson } from '../api-server/same-json.ts'

/** Writes the status of one pod into the API, with a delay and one after another. It may skip statuses. */
export interface StatusWriter {
  /** Takes the newest status. An older status that is not written yet is skipped. */
  put(status: PodStatus): void
  /** Removes the pod once its last status is written. */
  finish(): void
  /** Corrects the changes of other writers to the status. */
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

/** Returns the pod with the fields of the kubelet. Conditions of other writers stay. */
function merged(now: Pod, status: PodStatus): Pod {
  const others = (now.status?.conditions ?? []).filter((one: PodCondition) => !KUBELET_CONDITIONS.has(one.type))
  const next = others.length === 0 ? status : { ...status, conditions: [...others, ...status.conditions] }
  // Fields that came with the pod, such as its QoS class, also stay.
  const whole = { ...now.status, ...next }
  return isSameJson(now.status, whole) ? now : { ...now, status: whole }
}
