import type { Observation } from '../../../machines/pod-upgrade/context.ts'
import type { OperatorOut, WindowPod } from '../../plan/window.ts'
import type { PodView } from '../../pods/glossary.ts'
import { keysOf } from '../../pods/host-addresses.ts'
import { mayBeOpen } from '../../pods/open-journal.ts'
import { standing as standingOfPod } from '../../pods/readiness.ts'
import type { PodResult, PodState } from '../events.ts'
import type { Availability } from './availability.ts'
import type { PodOwner } from './missing-pods.ts'
import { isThere, missingPods } from './missing-pods.ts'
import type { PodStore } from '../../observation/pod-store.ts'

/** A pod with its machine. */
export interface WindowMember {
  uid: string
  name: string
  state: PodState | null
  result: PodResult | undefined
  /** The last observation by the machine. */
  pod: PodView
  gone: boolean
  /** The address of its targets. A pod that has moved has another address. */
  address: string | undefined
  /** The drained entries of another pod at this address are still being settled. */
  mustWait: boolean
  /** The pod was found in the load balancers at its turn. */
  wasFound: boolean
}

export interface WindowPodsOptions {
  store: PodStore
  /** The pods that the run includes, as observed now. */
  included: readonly Observation[]
  /** The pods of the same workloads that the run does not include. A pod that is not ready, or is half done, takes a place. */
  beside: readonly Observation[]
  members: readonly WindowMember[]
  workloads: readonly PodOwner[]
  expectsHeir(pod: PodView): boolean
  operatorOut(uid: string): OperatorOut
  /** The uid of the half-done or gone pod whose drained entry an operator has pointed at this pod. */
  drainedFor(uid: string): string | undefined
  /** Reports whether the pod is not known to be in every load balancer. */
  isUnserved(pod: PodView): boolean
  availability: Availability
}

const IDLE = new Set<PodState>(['queued', 'closing', 'done', 'deriving'])

/** All pods that count in the window now: those under way, those beside them, and the missing ones. */
export function windowPods({
  store,
  included,
  beside,
  members,
  workloads,
  expectsHeir,
  operatorOut,
  drainedFor,
  isUnserved,
  availability,
}: WindowPodsOptions): WindowPod[] {
  const taken = new Set(members.map(({ uid }) => uid))
  const pending = availability.pendingOf([...included, ...beside].map(({ pod }) => pod))
  const readiness = (pod: PodView): Readiness => readinessOf(pod, pending.get(pod.uid))
  const isActive = ({ state, result }: WindowMember): boolean =>
    state !== null && !IDLE.has(state) && (result === undefined || result.traffic === 'out')
  // A pod has moved, and another pod has come to the address that is still drained for it. Pods in `checking` do not count, since nothing
  // is drained for them: a place would otherwise be lost as soon as it is found.
  const drained = new Map(
    members.flatMap((one) => (one.address && isActive(one) && one.state !== 'checking' ? [[one.address, one.uid] as const] : [])),
  )
  const hostDrained = new Map(
    members.flatMap((one) =>
      isActive(one) && one.state !== 'checking' ? keysOf(one.pod).map((key) => [key, one.uid] as const) : [],
    ),
  )
  const active = new Set(members.flatMap((one) => (isActive(one) ? [one.uid] : [])))
  // Pods in the host network can share an address.
  const isDrainedHere = (pod: PodView): boolean => {
    const { uid, ip, hostNetwork } = pod
    if (!hostNetwork && ip !== undefined && drained.has(ip) && drained.get(ip) !== uid) return true
    return hostDrained.size > 0 && keysOf(pod).some((key) => hostDrained.has(key) && hostDrained.get(key) !== uid)
  }
  // An entry that sluice has drained at this address comes back during the upgrade. So it does not count as an operator's.
  const outOf = (pod: PodView): OperatorOut =>
    active.has(drainedFor(pod.uid) ?? '') || isDrainedHere(pod) ? 'some' : operatorOut(pod.uid)
  // The load balancers are asked only while a pod waits for the answer, and never about an entry that sluice has out.
  const isAnyWaiting = members.some(({ state, result }) => result === undefined && (state === 'queued' || state === 'checking'))
  const isOutside = (pod: PodView): boolean => isAnyWaiting && pod.ready && isThere(pod) && !isDrainedHere(pod) && isUnserved(pod)
  // The answer to a write can show that the pod is gone before the watch does.
  const gone = new Set(members.flatMap((one) => (one.gone ? [one.uid] : [])))
  // A gone pod counts as missing until its replacement exists. Without an expected replacement it does not count.
  const pods = missingPods(
    workloads,
    [...included, ...beside].flatMap(({ pod }) => (gone.has(pod.uid) ? [] : [pod])),
  )
  /** A terminating pod stands for its replacement where the workload has no desired number of pods. */
  const isLeaving = (pod: PodView): boolean =>
    pod.deleting && expectsHeir(pod) && workloads.find((one) => one.owns(pod))?.desired() === undefined
  for (const { pod } of included) {
    const { uid, name } = pod
    if (taken.has(uid) || !(isThere(pod) || isLeaving(pod))) continue
    pods.push({ uid, name, standing: 'idle', ...readiness(pod), operatorOut: outOf(pod), unserved: isOutside(pod) })
  }
  for (const { pod, stored } of beside) {
    const { uid, name } = pod
    // An unreadable record may be open.
    const isLeft = mayBeOpen(stored) && (isThere(pod) || expectsHeir(pod))
    if (taken.has(uid) || (!isThere(pod) && !isLeft)) continue
    const standing = isLeft ? 'left' : 'idle'
    // The entries of such a pod in the load balancers are not this run's concern.
    pods.push({ uid, name, standing, ...readiness(pod), operatorOut: 'none', unserved: false })
  }
  for (const member of members) {
    const { uid, name, state, result, mustWait, wasFound, address } = member
    // A machine that has ended takes no events, so the present observation of its pod counts.
    const observed = store.get(uid)?.pod
    const pod = observed ?? member.pod
    const isGone = member.gone || (result !== undefined && observed === undefined)
    const place = state === 'queued' ? 'waiting' : state === 'checking' ? 'checking' : active.has(uid) ? 'active' : 'idle'
    if ((isGone || !(isThere(pod) || isLeaving(pod))) && !active.has(uid)) continue
    pods.push({
      uid,
      name,
      standing: mustWait ? 'idle' : place,
      ...readiness(pod),
      operatorOut: outOf(pod),
      // The entries were found at the former address, and are unknown for a pod that has moved.
      unserved: (place === 'idle' || place === 'waiting') && !(wasFound && pod.ip === address) && isOutside(pod),
    })
  }
  return pods
}

type Readiness = Pick<WindowPod, 'ready' | 'availableInMs' | 'nodeIsSilent' | 'because'>

function readinessOf(pod: PodView, availableInMs: number | undefined): Readiness {
  if (pod.ready && !pod.deleting) {
    if (availableInMs === undefined) return { ready: true }
    return { ready: false, availableInMs, because: { code: 'ready-for-too-short' } }
  }
  return { ready: false, because: standingOfPod(pod), ...(pod.nodeIsSilent ? { nodeIsSilent: true } : {}) }
}
