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

/** A pod that has its machine. */
export interface WindowMember {
  uid: string
  name: string
  state: PodState | null
  result: PodResult | undefined
  /** As its machine saw it last. */
  pod: PodView
  gone: boolean
  /** Where its targets were found: not where it is now, if it has moved. */
  address: string | undefined
  /** What was drained for another at its address is still being settled. */
  mustWait: boolean
  /** It was found in the load balancers, when its turn came. */
  wasFound: boolean
}

export interface WindowPodsOptions {
  store: PodStore
  /** Those that are the run's concern, as observed now. */
  included: readonly Observation[]
  /** Of the same workloads, and not its concern: what is not ready takes a place, and what is left open for one of them. */
  beside: readonly Observation[]
  members: readonly WindowMember[]
  workloads: readonly PodOwner[]
  expectsHeir(pod: PodView): boolean
  operatorOut(uid: string): OperatorOut
  /** The pod that is half done, or gone, and whose entry somebody has pointed at this one, drained as it was. */
  drainedFor(uid: string): string | undefined
  /** Not known to be in every load balancer. */
  isUnserved(pod: PodView): boolean
  availability: Availability
}

const IDLE = new Set<PodState>(['queued', 'closing', 'done', 'deriving'])

/** All that counts in the window, as it is now: pods under way, those beside them, and those that are missed. */
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
  // Found by simulation: a pod moved, and another has come to the address that is still drained for it. For one that is only
  // being checked nothing is drained: else its place would be lost as soon as it has it, and found again as soon as it is lost.
  const drained = new Map(
    members.flatMap((one) => (one.address && isActive(one) && one.state !== 'checking' ? [[one.address, one.uid] as const] : [])),
  )
  const hostDrained = new Map(
    members.flatMap((one) =>
      isActive(one) && one.state !== 'checking' ? keysOf(one.pod).map((key) => [key, one.uid] as const) : [],
    ),
  )
  const active = new Set(members.flatMap((one) => (isActive(one) ? [one.uid] : [])))
  // On the host's network several share an address.
  const isDrainedHere = (pod: PodView): boolean => {
    const { uid, ip, hostNetwork } = pod
    if (!hostNetwork && ip !== undefined && drained.has(ip) && drained.get(ip) !== uid) return true
    return hostDrained.size > 0 && keysOf(pod).some((key) => hostDrained.has(key) && hostDrained.get(key) !== uid)
  }
  // What sluice has out at its address comes home in the middle of its upgrade: it is no pod that nobody counts on.
  const outOf = (pod: PodView): OperatorOut =>
    active.has(drainedFor(pod.uid) ?? '') || isDrainedHere(pod) ? 'some' : operatorOut(pod.uid)
  // Nothing is asked where nobody waits for the answer, or it would be of what sluice itself has out.
  const isAnyWaiting = members.some(({ state, result }) => result === undefined && (state === 'queued' || state === 'checking'))
  const isOutside = (pod: PodView): boolean => isAnyWaiting && pod.ready && isThere(pod) && !isDrainedHere(pod) && isUnserved(pod)
  // Found by simulation: the answer to a write says so, and the watch not yet.
  const gone = new Set(members.flatMap((one) => (one.gone ? [one.uid] : [])))
  // What is not there any more is missing until another is; where none will come, nobody counts on it.
  const pods = missingPods(
    workloads,
    [...included, ...beside].flatMap(({ pod }) => (gone.has(pod.uid) ? [] : [pod])),
  )
  /** Where nobody says how many there should be, one that goes stands for itself. */
  const isLeaving = (pod: PodView): boolean =>
    pod.deleting && expectsHeir(pod) && workloads.find((one) => one.owns(pod))?.desired() === undefined
  for (const { pod } of included) {
    const { uid, name } = pod
    if (taken.has(uid) || !(isThere(pod) || isLeaving(pod))) continue
    pods.push({ uid, name, standing: 'idle', ...readiness(pod), operatorOut: outOf(pod), unserved: isOutside(pod) })
  }
  for (const { pod, stored } of beside) {
    const { uid, name } = pod
    // Found by simulation: a record that somebody had made unreadable was taken for none.
    const isLeft = mayBeOpen(stored) && (isThere(pod) || expectsHeir(pod))
    if (taken.has(uid) || (!isThere(pod) && !isLeft)) continue
    const standing = isLeft ? 'left' : 'idle'
    // Whether it is in a load balancer, and by whom it is not, is not this run's concern.
    pods.push({ uid, name, standing, ...readiness(pod), operatorOut: 'none', unserved: false })
  }
  for (const member of members) {
    const { uid, name, state, result, mustWait, wasFound, address } = member
    // A machine that has come to its end hears nothing any more, while its pod counts on as it is now.
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
      // What was found is not known of where it is now, if it has moved.
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
