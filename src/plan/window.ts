import type { Reason, ReasonOf } from '../reasons/reason.ts'
import type { Occupancy } from '../reasons/window-reasons.ts'

/** `all`: no load balancer sends requests to the pod, so its upgrade takes no capacity away. */
export type OperatorOut = 'none' | 'some' | 'all'

/** A pod without targets is in no load balancer, so no operator has it out. */
export function howMuchOut<Target>(targets: readonly Target[], isOut: (target: Target) => boolean): OperatorOut {
  if (!targets.some(isOut)) return 'none'
  return targets.every(isOut) ? 'all' : 'some'
}

/** The state of one pod, for the decision which pods may leave rotation now. */
export interface WindowPod {
  uid: string
  name: string
  /**
   * - `waiting`: the pod is to be upgraded, and has not started
   * - `checking`: the pod has a place in the window, and has not left rotation yet
   * - `active`: the pod leaves rotation, is out, or comes back; a failed pod stays `active`
   * - `left`: an earlier run left the pod half done, and this run does not cover it
   * - `idle`: the pod is not, or no longer, part of the work of the run
   * - `missing`: the pod does not exist yet; `name` is the name of its workload
   */
  standing: 'waiting' | 'checking' | 'active' | 'left' | 'idle' | 'missing'
  /** True while the pod has the condition Ready, and has had it for as long as its workload requires. */
  ready: boolean
  /** Milliseconds until a Ready pod counts as `ready`, by `minReadySeconds` of its workload. */
  availableInMs?: number
  /** The share of the pod's targets that an operator has out of rotation. */
  operatorOut: OperatorOut
  /** True where the pod is not known to be in every load balancer. */
  unserved: boolean
  /** True where the node of the pod does not report, so that no kubelet would apply the patch. */
  nodeIsSilent?: boolean
  /** The reason why the pod is not ready. */
  because?: Reason
  /** The pod that must go before a missing pod can be created. */
  leaving?: { pod: string; because: Reason }
}

export interface WindowDecision {
  /** The uids of the pods that may start, or may continue to leave rotation, in order. */
  start: string[]
  /** The reason why no more pods may start, while some still wait. */
  waitingFor?: ReasonOf<'window-taken'>
}

/** Returns the number of pods that may be out at once. A percentage is rounded down, to at least one pod. */
export function windowSize(maxUnavailable: { count: number } | { percent: number }, pods: number): number {
  if ('count' in maxUnavailable) return maxUnavailable.count
  return Math.max(1, Math.floor((pods * maxUnavailable.percent) / 100))
}

/**
 * Decides which pods may start. A pod may leave rotation while fewer than `size` OTHER pods are unavailable, so that a window of 1 can
 * mend a broken pod, and a late heartbeat, which makes every pod of a node not ready, starts none. A pod that no load balancer has, or
 * whose node does not report, waits.
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
 * Returns the pods that can never start, because pods that an operator has out, or that a load balancer lacks, fill the window. Pods
 * that are not ready or missing do not fill the window here: they may come back.
 */
export function stuckPods(pods: readonly WindowPod[], size: number): WindowPod[] {
  const lasting = pods.filter(({ standing }) => standing === 'waiting' || standing === 'idle')
  const count = countUnavailable(lasting.map((pod) => ({ ...pod, ready: true })))
  return lasting.filter((pod) => pod.standing === 'waiting' && othersFor(pod, count) >= size)
}

interface Count {
  /** The uids of all pods that cannot be relied on to serve requests. */
  unavailable: Set<string>
  /** The uids of those pods that sluice or a fault keeps from serving. */
  down: Set<string>
}

function countUnavailable(pods: readonly WindowPod[]): Count {
  return {
    unavailable: new Set(pods.filter((pod) => isUnavailable(pod)).map(({ uid }) => uid)),
    down: new Set(pods.filter((pod) => isDown(pod)).map(({ uid }) => uid)),
  }
}

/**
 * Returns the number of other pods that count against this pod. A pod that an operator has out everywhere leaves no rotation: other pods
 * that an operator has out do not count, and such pods are upgraded one window at a time.
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

/** Orders the candidates. A pod with a place keeps it where possible; pods that serve no requests anyway come next. */
function rank({ standing, ready, operatorOut }: WindowPod): number {
  if (standing === 'checking') return -1
  return !ready ? 0 : operatorOut === 'none' ? 2 : 1
}

const MOST_NAMED = 5

/** Names the pods while there are few. A larger number is given as counts, which change less often. */
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

/** Groups missing pods by workload. */
function lacking(missing: readonly WindowPod[]): ReasonOf<'window-taken'>['lacking'] {
  return [...new Set(missing.map(({ name }) => name))].map((workload) => {
    const own = missing.filter((one) => one.name === workload)
    return { workload, pods: own.length, leaving: own.flatMap(({ leaving }) => leaving ?? []) }
  })
}

/** A pod that starts with this decision is still `waiting` and available. */
function occupancyOf(pod: WindowPod): Occupancy {
  const { standing, ready, availableInMs, operatorOut, unserved } = pod
  if (standing === 'active') return 'upgrading'
  if (standing === 'left' || standing === 'missing') return standing
  if (!ready) return availableInMs === undefined ? 'not-ready' : 'ready-too-short'
  if (operatorOut !== 'none') return 'operator'
  return unserved ? 'unserved' : 'starts'
}
