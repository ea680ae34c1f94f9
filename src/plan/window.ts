import type { Reason, ReasonOf } from '../reasons/reason.ts'
import type { Occupancy } from '../reasons/window-reasons.ts'

/** `all`: the pod gets no requests from any load balancer, so that its upgrade takes nothing away. */
export type OperatorOut = 'none' | 'some' | 'all'

/** A pod without a target is in no load balancer: no operator has it out. */
export function howMuchOut<Target>(targets: readonly Target[], isOut: (target: Target) => boolean): OperatorOut {
  if (!targets.some(isOut)) return 'none'
  return targets.every(isOut) ? 'all' : 'some'
}

/** How one pod stands, for the decision which pods may leave rotation now. */
export interface WindowPod {
  uid: string
  name: string
  /**
   * - `waiting`: would like to start
   * - `checking`: has a place, and has not left yet
   * - `active`: leaves, is out, or comes back; a failed pod stays here
   * - `left`: an earlier run has left it half done, and this one is not about it
   * - `idle`: is not, or no longer, part of the run's work
   * - `missing`: is still to be made; the name is that of its workload
   */
  standing: 'waiting' | 'checking' | 'active' | 'left' | 'idle' | 'missing'
  /** Condition Ready, as observed now, and for as long as its workload asks for. */
  ready: boolean
  /** It is Ready, and counts as `ready` after so many milliseconds: `minReadySeconds` of its workload. */
  availableInMs?: number
  /** How many of its targets an operator has out of rotation. */
  operatorOut: OperatorOut
  /** It is not known to be in every load balancer. */
  unserved: boolean
  /** Its node does not report: no kubelet would carry out the patch. */
  nodeIsSilent?: boolean
  /** How it stands where it is not ready. */
  because?: Reason
  /** Of a pod that is still to be made: the pod that has to go first. */
  leaving?: { pod: string; because: Reason }
}

export interface WindowDecision {
  /** Uids of the pods that may start now, or go on to leave, in order. */
  start: string[]
  /** Why no more may start while some still wait. */
  waitingFor?: ReasonOf<'window-taken'>
}

/** The number of pods that may be out at once: a percentage is rounded down, and at least one. */
export function windowSize(maxUnavailable: { count: number } | { percent: number }, pods: number): number {
  if ('count' in maxUnavailable) return maxUnavailable.count
  return Math.max(1, Math.floor((pods * maxUnavailable.percent) / 100))
}

/**
 * Which pods may start now. A pod may leave rotation while fewer than `size` OTHER pods are unavailable: out by this
 * run or left so by another, not ready for whatever reason, out by an operator, in no load balancer, or missing. A pod of this run
 * that an earlier one left out is `active` from the start: it takes no new place. So a broken pod can be mended within a
 * window of 1, and a late node heartbeat, which makes every pod of the node not ready, starts none. One that no load
 * balancer has cannot be drained: it waits until they do. One whose node does not report would stay out: it waits for that.
 */
export function admit(pods: readonly WindowPod[], size: number): WindowDecision {
  const start: string[] = []
  const count = countUnavailable(pods)
  const waiting = pods.filter(({ standing }) => standing === 'waiting' || standing === 'checking')
  for (const pod of waiting.toSorted((a, b) => rank(a) - rank(b))) {
    if (pod.unserved || pod.nodeIsSilent) continue
    const others = othersFor(pod, count)
    if (others >= size) continue
    start.push(pod.uid)
    count.unavailable.add(pod.uid)
    count.down.add(pod.uid)
  }
  const starting = new Set(start)
  const left = waiting.filter(({ uid }) => !starting.has(uid))
  if (left.length === 0) return { start }
  if (left.every(({ unserved, nodeIsSilent }) => unserved || nodeIsSilent))
    return { start, waitingFor: { code: 'window-taken', ...describe(left, count.unavailable) } }
  return { start, waitingFor: { code: 'window-taken', size, ...describe(pods, count.unavailable) } }
}

/**
 * Pods that can never start, by the same rule, however long the run waits and whatever it does itself: pods that an operator has
 * out, or that a load balancer does not have, fill the window. What is not ready or missing may come back.
 */
export function stuckPods(pods: readonly WindowPod[], size: number): WindowPod[] {
  const lasting = pods.filter(({ standing }) => standing === 'waiting' || standing === 'idle')
  const count = countUnavailable(lasting.map((pod) => ({ ...pod, ready: true })))
  return lasting.filter((pod) => pod.standing === 'waiting' && othersFor(pod, count) >= size)
}

interface Count {
  /** By uid: all pods that cannot be relied on for requests. */
  unavailable: Set<string>
  /** Those of them that sluice or a fault keeps from serving. */
  down: Set<string>
}

function countUnavailable(pods: readonly WindowPod[]): Count {
  return {
    unavailable: new Set(pods.filter((pod) => isUnavailable(pod)).map(({ uid }) => uid)),
    down: new Set(pods.filter((pod) => isDown(pod)).map(({ uid }) => uid)),
  }
}

/**
 * How many others count against this pod. A pod that an operator has out everywhere leaves no rotation: what else an operator has
 * out does not count, and such pods are upgraded a window at a time.
 */
function othersFor({ uid, operatorOut }: WindowPod, { unavailable, down }: Count): number {
  const counted = operatorOut === 'all' ? down : unavailable
  return counted.size - (counted.has(uid) ? 1 : 0)
}

function isDown({ standing, ready }: WindowPod): boolean {
  return standing === 'active' || standing === 'left' || !ready
}

function isUnavailable(pod: WindowPod): boolean {
  return isDown(pod) || pod.operatorOut !== 'none' || pod.unserved
}

/** Who has a place keeps it where it can; then what does not serve anyway. */
function rank({ standing, ready, operatorOut }: WindowPod): number {
  if (standing === 'checking') return -1
  return !ready ? 0 : operatorOut === 'none' ? 2 : 1
}

const MOST_NAMED = 5

/** A few by their names; of many how many, which does not change with each of them. */
function describe(
  pods: readonly WindowPod[],
  unavailable: ReadonlySet<string>,
): Pick<ReasonOf<'window-taken'>, 'pods' | 'lacking' | 'counts'> {
  const out = pods.filter(({ uid }) => unavailable.has(uid))
  const there = out.filter(({ standing }) => standing !== 'missing')
  const missing = out.filter(({ standing }) => standing === 'missing')
  if (out.length <= MOST_NAMED) {
    const named = there.map((pod) => ({
      pod: pod.name,
      standing: occupancyOf(pod),
      ...(pod.because && { because: pod.because }),
    }))
    return { pods: named, lacking: lacking(missing), counts: [] }
  }
  const counts = OCCUPANCIES.map((standing) => ({
    standing,
    pods: out.filter((pod) => occupancyOf(pod) === standing || (standing === 'upgrading' && occupancyOf(pod) === 'starts'))
      .length,
  }))
  return { pods: [], lacking: [], counts: counts.filter((one) => one.pods > 0) }
}

const OCCUPANCIES: readonly Occupancy[] = ['upgrading', 'left', 'missing', 'not-ready', 'ready-too-short', 'operator', 'unserved']

/** By workload. */
function lacking(missing: readonly WindowPod[]): ReasonOf<'window-taken'>['lacking'] {
  return [...new Set(missing.map(({ name }) => name))].map((workload) => {
    const own = missing.filter((one) => one.name === workload)
    return { workload, pods: own.length, leaving: own.flatMap(({ leaving }) => leaving ?? []) }
  })
}

/** A pod that starts with this decision is `waiting` still, and would be available. */
function occupancyOf(pod: WindowPod): Occupancy {
  const { standing, ready, availableInMs, operatorOut, unserved } = pod
  if (standing === 'active') return 'upgrading'
  if (standing === 'left' || standing === 'missing') return standing
  if (!ready) return availableInMs === undefined ? 'not-ready' : 'ready-too-short'
  if (operatorOut !== 'none') return 'operator'
  return unserved ? 'unserved' : 'starts'
}
