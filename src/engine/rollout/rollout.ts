import type { Observation, PodUpgradeInput } from '../../../machines/pod-upgrade/context.ts'
import type { PodPorts } from '../../../machines/pod-upgrade/ports.ts'
import type { PodView } from '../../pods/glossary.ts'
import type { OperatorOut, WindowPod } from '../../plan/window.ts'
import { admit, howMuchOut, windowSize } from '../../plan/window.ts'
import { withinLimit } from '../../kube/within-limit.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Reason, ReasonOf } from '../../reasons/reason.ts'
import type { PodResult, PodState, RunEventBody } from '../events.ts'
import type { EndpointStore } from '../../observation/endpoint-store.ts'
import type { Availability } from './availability.ts'
import { blindness } from './blindness.ts'
import { exposedPods } from './exposed-pods.ts'
import type { PodStore } from '../../observation/pod-store.ts'
import type { Member } from './members.ts'
import { contextOf, createMembers } from './members.ts'
import { patientClocks } from './patient-clock.ts'
import type { Asking } from './asking.ts'
import type { Beside } from './beside.ts'
import { createReloadGuard } from './reload-guard.ts'
import type { RunSettings } from '../settings.ts'
import { createStall } from './stall.ts'
import { isAdmitting, isBeforeDrain, isLookedAt, isUntouched } from './snapshots.ts'
import type { Traffic } from '../traffic/traffic.ts'
import type { Workload } from '../../workloads/workload.ts'
import { windowPods } from './window-pods.ts'
import type { PodOwner } from './missing-pods.ts'
import { mayBeOpen } from '../../pods/open-journal.ts'

/** Runs the pods of a run through their upgrades, as many at once as the window has places. */
export interface Rollout {
  /** The pod with this uid has changed. `onGone` and `onEndpoints` tell of its end and of its endpoints. */
  onPod(uid: string): void
  onGone(uid: string): void
  onEndpoints(uids: Iterable<string>): void
  /** The pods became watchable or unwatchable, or a pod was looked for in the load balancers. */
  onSight(): void
  /** Reports whether the rollout waits for a change of a pod or of its endpoint. */
  isWaiting(): boolean
  /** A workload has changed: its number of pods, or the pods that are to come in place of others. */
  onWorkload(): void
  /** Starts the upgrades of the present pods, and the settlement of the ghosts that earlier runs left. */
  start(ghosts: readonly PodUpgradeInput[]): void
  /** Starts no new pod. Drained pods that are not patched are put back, and patched pods come home. */
  hold(reason: Reason): void
  /** Starts no new pod until `resume`. Pods that are under way go on to their end. */
  pause(reason: Reason): void
  resume(): void
  /** The same as `hold`, for all open pods, including those that the rollout has not taken in. */
  abort(reason: Reason): void
  /** The same as `hold`. After `graceMs` milliseconds, pods that are not home are left as they are. */
  interrupt(graceMs: number): void
  /** Leaves every pod in its state. */
  checkpoint(): void
  /** Another owner has the workload. */
  lose(reason: Reason): void
  /** After the end, looks whether a load balancer has forgotten a pod that stays out, and drains it again. */
  secure(): Promise<void>
  /** Ends the regular looks for forgotten drains, which go on after the end of the rollout. */
  stop(): void
  /** Resolves once every pod has ended. */
  readonly finished: Promise<PodResult[]>
}

export interface RolloutOptions {
  clock: Clock
  settings: RunSettings
  /** The number of pods that may be out at once, by the plan. */
  window: number
  store: PodStore
  endpoints: EndpointStore
  traffic: Traffic
  ports: PodPorts
  /** Reports whether the run includes the pod. */
  includes(pod: PodView): boolean
  workloads: readonly (PodOwner & Pick<Workload, 'isCurrent' | 'isBroken'>)[]
  /** The pods of the same workloads that the run does not include. They fill the window too. */
  beside: Beside
  /** Resolves once the observation is current. */
  refresh(): Promise<void>
  asking: Asking
  /** The input of a pod's machine. Undefined where the pod needs no work. */
  inputFor(pod: PodView): PodUpgradeInput | undefined
  /** The time for which a pod must be Ready, by its workload, in milliseconds. */
  minReadyMs(pod: PodView): number
  /** Reports whether a pod will come in the place of this one. */
  expectsHeir(pod: PodView): boolean
  /** Reports whether the candidate came in the place of the gone pod. */
  isHeir(gone: PodView, candidate: PodView): boolean
  byUpgradeOrder(a: PodView, b: PodView): number
  /** The share of the pod that an operator had out of rotation when the run was planned. */
  operatorOut(uid: string): OperatorOut
  /** The uid of the half-done or gone pod whose drained entry an operator has pointed at this pod. */
  drainedFor(uid: string): string | undefined
  /** Reports whether the pod is not known to be in every load balancer. */
  isUnserved(pod: PodView): boolean
  /** The availability of pods, shared with the plan. */
  availability: Availability
  /** Called whenever the run is found paused with nothing under way. */
  onRest(): void
  /** Called after no pod could start for the ready deadline, because of unavailable pods that the run has not taken out. */
  onStalled(reason: ReasonOf<'window-stalled'>): void
  tell(event: RunEventBody): void
}

/** The states that end with an observation of the cluster. */
const AWAITS = new Set<PodState>(['restarting', 'rollingBack', 'warming', 'settling'])

/** The limit for a look before a decision. */
const LOOKS_FOR_MS = 5_000

/**
 * The pods per millisecond of the minimum interval between decisions. A decision looks at every pod, and the upgrade of a pod brings about
 * thirty changes. So decisions for 1,000 pods are 50 ms apart, of which one takes 1 to 2 ms.
 */
const PODS_PER_MS = 20

export function createRollout(options: RolloutOptions): Rollout {
  const { clock, settings, store, endpoints, traffic, tell } = options
  const { refresh } = options
  /** The clock for decisions about a pod at the end of a time. */
  const patientClock = patientClocks(clock, {
    isCurrent: () => blindness(options) === undefined && endpoints.isCurrent(),
    catchUp: refresh,
  })
  // The stall clock also runs while nothing can be observed, since that is a reason to give up.
  const stallClock = patientClocks(clock, { isCurrent: () => true, catchUp: lookBeforeGivingUp })
  const stall = createStall({
    clock: stallClock({ isBegun: () => true, look: lookBeforeGivingUp }),
    forMs: settings.readyDeadlineMs,
    onStalled: options.onStalled,
  })
  /** The pods that the rollout takes in: all, only open ones after a hold, or none at the end. */
  let intake: 'all' | 'open' | 'none' = 'all'
  /** Drained pods that are not patched are put back. */
  let undoes = false
  /** The reason for which no pod is started now. */
  let paused: Reason | undefined
  /** The share that an operator had out of a pod at its last turn. */
  const lastFound = new Map<string, OperatorOut>()
  let started = false
  let planned = false
  let decidedAt = Number.NEGATIVE_INFINITY
  let graceTimer: unknown
  /** The timer for the next pod that becomes available by time alone. */
  let availableTimer: unknown
  let resolveFinished: (results: PodResult[]) => void = () => {}
  const finished = new Promise<PodResult[]>((resolve) => {
    resolveFinished = resolve
  })

  const members = createMembers({ ...options, patientClock, onBadEnd: holdAfter, onChange: plan })
  const exposed = () => exposedPods({ members: members.all(), store, traffic })
  const reloadGuard = createReloadGuard({ clock, traffic, exposed, onLooked: plan })

  /** Looks again before the stall is reported, since a silent connection can hide pods that are ready. */
  async function lookBeforeGivingUp(): Promise<void> {
    await withinLimit(clock, LOOKS_FOR_MS, refresh)
    // The changes that the look brought would be decided on later otherwise.
    decide()
  }

  /** Starts no further pod after a bad end. */
  function holdAfter(pod: string, ending: ReasonOf<'held-after'>['ending']): void {
    if (intake === 'all') hold({ code: 'held-after', pod, ending }, { undo: false })
  }

  /** Schedules a decision in a turn of its own: the pods to start, the reasons to wait, and the end of the rollout. */
  function plan(): void {
    if (planned || !started) return
    planned = true
    const waitMs = decidedAt + Math.floor(members.size / PODS_PER_MS) - clock.now()
    if (waitMs > 0) clock.setTimeout(decideNow, waitMs)
    else queueMicrotask(decideNow)
  }

  function decideNow(): void {
    planned = false
    decidedAt = clock.now()
    decide()
  }

  function decide(): void {
    const included = includedPods()
    takeIn(included)
    const pods = windowPods({
      ...options,
      included,
      beside: options.beside.all(),
      members: [...members.all()].filter((member) => !isReleasedAtEnd(member)).map(members.standingOf),
      operatorOut,
    })
    const { start, waitingFor: crowded } = admit(pods, windowNow(included))
    wakeAt(pods)
    const blind = blindness(options)
    // The window holds pods up only where one is to start. While the pods cannot be watched, the stall deadline counts as well.
    const full = intake === 'all' ? crowded : undefined
    const unsure = intake === 'all' ? blind?.reason : undefined
    const starting = new Set(intake === 'all' && paused === undefined && blind === undefined ? start : [])
    for (const uid of starting) {
      const member = members.get(uid)
      // A pod in `checking` only keeps its place.
      if (member && isWaiting(member)) member.actor.send({ type: 'start' })
    }
    for (const member of members.all()) {
      if (member.result !== undefined || starting.has(member.uid)) continue
      if (isBeforeDrain(member.actor.getSnapshot())) member.actor.send({ type: 'wait' })
      if (!isWaiting(member)) continue
      const before = members.beforeIt(member)
      const reason = before ? ({ code: 'awaits-settlement', pod: before.name } as const) : full
      // A short look at the pods is not reported as a reason to wait.
      const unseen = blind?.isBroken === true ? blind.reason : undefined
      const held = intake === 'all' ? undefined : ({ code: 'no-further-start' } as const)
      members.tellWaiting(member, paused ?? unseen ?? reason ?? held)
    }
    reloadGuard.watch()
    const all = [...members.all()]
    const rest = all.filter(({ result }) => result === undefined)
    // Nothing is under way, and no pod will start: the waiting pods end unchanged.
    const resting = rest.length > 0 && rest.every((member) => isWaiting(member))
    if (resting && intake !== 'all') for (const { actor } of rest) actor.send({ type: 'interrupt' })
    else if (resting && paused !== undefined) options.onRest()
    // The stall time does not count while a waiting pod is being looked at.
    if (!rest.some(({ actor }) => isLookedAt(actor.getSnapshot())))
      stall.wait(resting && paused === undefined && starting.size === 0 ? (full ?? unsure) : undefined)
    if (rest.length === 0) {
      // New pods belong to a later run, since writing the account of this run may take long.
      intake = 'none'
      clock.clearTimeout(graceTimer)
      clock.clearTimeout(availableTimer)
      stall.wait(undefined)
      resolveFinished(all.map(({ result }) => result!))
    }
  }

  function wakeAt(pods: readonly WindowPod[]): void {
    clock.clearTimeout(availableTimer)
    const pending = pods.flatMap(({ availableInMs }) => availableInMs ?? [])
    if (pending.length > 0) availableTimer = clock.setTimeout(plan, Math.min(...pending))
  }

  /** The planned window. A share is counted again after a scale-down, so that the window is never all remaining pods. */
  function windowNow(included: readonly Observation[]): number {
    const counted = included.filter(({ pod }) => options.expectsHeir(pod) && (pod.deleting || !pod.finished))
    return Math.min(options.window, windowSize(settings.maxUnavailable, counted.length))
  }

  /**
   * The share that an operator had out, known from the pod's last turn, or else from the plan. The knowledge stays while the pod waits for
   * another turn.
   */
  function operatorOut(uid: string): OperatorOut {
    const member = members.get(uid)
    const record = member && contextOf(member).record
    // A pod that needs no drain was not looked for in the load balancers.
    if (record && record.undrained === undefined)
      lastFound.set(
        uid,
        howMuchOut(record.targets, ({ untouched }) => untouched),
      )
    return lastFound.get(uid) ?? options.operatorOut(uid)
  }

  /**
   * Reports whether the workload has released the pod, for example after a change of the pod's labels, and no record of the pod is open.
   * Such a pod counts as gone: the run neither upgrades it nor waits for it.
   */
  function isReleased({ pod, stored }: Observation): boolean {
    return !mayBeOpen(stored) && !options.includes(pod) && !options.workloads.some((one) => one.owns(pod))
  }

  function isReleasedAtEnd({ uid, result }: Member): boolean {
    const now = store.get(uid)
    return result !== undefined && result.traffic !== 'out' && now !== undefined && isReleased(now)
  }

  function includedPods(): Observation[] {
    return Array.from(store.all()).filter(({ pod }) => options.includes(pod))
  }

  /**
   * Makes a machine for each pod that has none: the pods of the start, and later pods on other images. Open pods are taken in also after a
   * hold, since no other process brings them to their end.
   */
  function takeIn(included: readonly Observation[]): void {
    if (intake === 'none') return
    // The condition is that of the beginning: a pod that failed before holds the run as soon as it is taken in, and the others are still
    // named.
    const openAlone = intake === 'open'
    const others = included.filter(({ pod }) => !members.has(pod.uid))
    for (const { pod, stored } of others.sort((a, b) => options.byUpgradeOrder(a.pod, b.pod))) {
      // A pod that is terminating or was evicted is taken in only where an earlier run has left it open.
      if ((pod.deleting || pod.finished || openAlone) && !mayBeOpen(stored)) continue
      // The address of the pod is still being settled for the pod before it.
      if (members.settlingFor(pod)) continue
      const input = options.inputFor(pod)
      if (input === undefined) continue
      members.add(input)
      if (undoes) members.get(pod.uid)!.actor.send({ type: 'interrupt' })
    }
  }

  /** Reports whether the pod waits for a place in the window. */
  function isWaiting(member: Member): boolean {
    return member.state === 'queued' || isAdmitting(member.actor.getSnapshot())
  }

  function lookAnew(): void {
    members.tellHeirs()
    plan()
  }

  function send(event: { type: 'interrupt' } | { type: 'checkpoint' } | { type: 'lost'; reason: Reason }): void {
    for (const { actor, result } of members.all()) if (result === undefined) actor.send(event)
    plan()
  }

  function hold(reason: Reason, { undo } = { undo: true }): void {
    if (intake === 'all') {
      tell({ type: 'warning', reason })
      intake = 'open'
    }
    undoes ||= undo
    if (undo) send({ type: 'interrupt' })
    plan()
  }

  function checkpoint(): void {
    intake = 'none'
    send({ type: 'checkpoint' })
  }

  return {
    finished,
    start(ghosts) {
      started = true
      // A workload that was lost before the start has another owner, and so have its ghosts.
      if (intake !== 'none') for (const ghost of ghosts) members.add(ghost)
      plan()
    },
    onPod(uid) {
      const observation = store.get(uid)
      const member = members.get(uid)
      if (observation && member && member.result === undefined) {
        const isGone = isUntouched(member.state!) && isReleased(observation)
        member.actor.send(isGone ? { type: 'gone' } : { type: 'observed', ...observation })
      }
      lookAnew()
    },
    onGone(uid) {
      const member = members.get(uid)
      if (member && member.result === undefined) member.actor.send({ type: 'gone' })
      lookAnew()
    },
    onSight: lookAnew,
    isWaiting: () => [...members.all()].some(({ result, state }) => result === undefined && state !== null && AWAITS.has(state)),
    onWorkload: lookAnew,
    onEndpoints(uids) {
      for (const uid of uids) members.tellEndpoints(uid)
    },
    hold,
    pause(reason) {
      paused = reason
      plan()
    },
    resume() {
      paused = undefined
      plan()
    },
    abort(reason) {
      takeIn(includedPods())
      hold(reason)
    },
    interrupt(graceMs) {
      hold({ code: 'interrupted' })
      graceTimer = clock.setTimeout(checkpoint, graceMs)
    },
    checkpoint,
    lose(reason) {
      intake = 'none'
      send({ type: 'lost', reason })
    },
    secure: reloadGuard.look,
    stop: reloadGuard.stop,
  }
}
