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
  /** The pod has changed, is gone, or its endpoint has: by uid. */
  onPod(uid: string): void
  onGone(uid: string): void
  onEndpoints(uids: Iterable<string>): void
  /** Whether the pods can be watched has changed, or it was looked whether one is in the load balancers. */
  onSight(): void
  /** Is a change of a pod, or of its endpoint, waited for? */
  isWaiting(): boolean
  /** A workload has changed: how many pods there should be, and what is to come in the place of one. */
  onWorkload(): void
  /** Starts with the pods that are there, and with what earlier runs left to settle. */
  start(ghosts: readonly PodUpgradeInput[]): void
  /** Starts no new pod, and puts back what is drained and not patched; what is patched comes home. */
  hold(reason: Reason): void
  /** Starts no new pod until `resume`; what is under way goes on to its end. */
  pause(reason: Reason): void
  resume(): void
  /** As `hold`, for all that is open, taken in or not. */
  abort(reason: Reason): void
  /** The same, and after `graceMs` leaves what is not home. */
  interrupt(graceMs: number): void
  /** Leaves everything as it is. */
  checkpoint(): void
  /** Another owner has the workload. */
  lose(reason: Reason): void
  /** Looks, when it is finished, whether a load balancer has forgotten what stays out, and drains it again. */
  secure(): Promise<void>
  /** Until then it looks for that from time to time. */
  stop(): void
  /** Resolves when every pod has come to its end. */
  readonly finished: Promise<PodResult[]>
}

export interface RolloutOptions {
  clock: Clock
  settings: RunSettings
  /** Pods that may be out at once, as it was planned. */
  window: number
  store: PodStore
  endpoints: EndpointStore
  traffic: Traffic
  ports: PodPorts
  /** Is this pod the run's concern? */
  includes(pod: PodView): boolean
  workloads: readonly (PodOwner & Pick<Workload, 'isCurrent' | 'isBroken'>)[]
  /** Pods of the same workloads that are none of its concern, and fill the window all the same. */
  beside: Beside
  /** Resolves once what is known is of now. */
  refresh(): Promise<void>
  asking: Asking
  /** What a pod's machine starts from; undefined where nothing is to be done with it. */
  inputFor(pod: PodView): PodUpgradeInput | undefined
  /** The least for which a pod has to be Ready, by its workload. */
  minReadyMs(pod: PodView): number
  /** Something will take the place of this pod. */
  expectsHeir(pod: PodView): boolean
  /** Has it come in the place of one that is gone? */
  isHeir(gone: PodView, candidate: PodView): boolean
  byUpgradeOrder(a: PodView, b: PodView): number
  /** What an operator had out of rotation of this pod when the run was planned. */
  operatorOut(uid: string): OperatorOut
  /** The pod that is half done, or gone, and whose entry somebody has pointed at this one, drained as it was. */
  drainedFor(uid: string): string | undefined
  /** It is not known to be in every load balancer. */
  isUnserved(pod: PodView): boolean
  /** Shared with the plan, which looked at the pods before. */
  availability: Availability
  /** It is paused, and nothing is under way. Called whenever it is found so. */
  onRest(): void
  /** For the ready deadline no pod could start, since others that are none of the run's own doing are unavailable. */
  onStalled(reason: ReasonOf<'window-stalled'>): void
  tell(event: RunEventBody): void
}

/** States that end with what the cluster shows. */
const AWAITS = new Set<PodState>(['restarting', 'rollingBack', 'warming', 'settling'])

/** What does not answer for so long is no reason to wait on. */
const LOOKS_FOR_MS = 5_000

/**
 * A decision looks at every pod, and something changes thirty times in the upgrade of each. So the next one comes no
 * sooner than a millisecond for so many pods after the last: 50 ms for 1,000 pods, of which it takes one or two.
 */
const PODS_PER_MS = 20

export function createRollout(options: RolloutOptions): Rollout {
  const { clock, settings, store, endpoints, traffic, tell } = options
  const { refresh } = options
  /** For all that is decided of a pod when time is over. */
  const patientClock = patientClocks(clock, {
    isCurrent: () => blindness(options) === undefined && endpoints.isCurrent(),
    catchUp: refresh,
  })
  // That nothing can be observed is what it gives up for, too.
  const stallClock = patientClocks(clock, { isCurrent: () => true, catchUp: lookBeforeGivingUp })
  const stall = createStall({
    clock: stallClock({ isBegun: () => true, look: lookBeforeGivingUp }),
    forMs: settings.readyDeadlineMs,
    onStalled: options.onStalled,
  })
  /** Whom it takes in: all pods, once it is held those that are open already, and in the end none. */
  let intake: 'all' | 'open' | 'none' = 'all'
  /** What is drained and not patched is put back. */
  let undoes = false
  /** Why no pod is started for now. */
  let paused: Reason | undefined
  /** What an operator had out of a pod when its turn came last. */
  const lastFound = new Map<string, OperatorOut>()
  let started = false
  let planned = false
  let decidedAt = Number.NEGATIVE_INFINITY
  let graceTimer: unknown
  /** For the next pod that becomes available by time alone. */
  let availableTimer: unknown
  let resolveFinished: (results: PodResult[]) => void = () => {}
  const finished = new Promise<PodResult[]>((resolve) => {
    resolveFinished = resolve
  })

  const members = createMembers({ ...options, patientClock, onBadEnd: holdAfter, onChange: plan })
  const exposed = () => exposedPods({ members: members.all(), store, traffic })
  const reloadGuard = createReloadGuard({ clock, traffic, exposed, onLooked: plan })

  /** Found by a reviewer: a connection was silent, and a pod that had long been ready was named as what held the others up. */
  async function lookBeforeGivingUp(): Promise<void> {
    await withinLimit(clock, LOOKS_FOR_MS, refresh)
    // What was seen is decided on a little later else.
    decide()
  }

  /** No other pod is started after one that went wrong. */
  function holdAfter(pod: string, ending: ReasonOf<'held-after'>['ending']): void {
    if (intake === 'all') hold({ code: 'held-after', pod, ending }, { undo: false })
  }

  /** Decides anew, in a turn of its own, whatever changed: who starts, who waits for what, and whether all is done. */
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
    // Where none is to start the window holds nobody up. Found by trial: the one that would have started waited for itself. And by
    // reading: who could not watch them waited without end.
    const full = intake === 'all' ? crowded : undefined
    const unsure = intake === 'all' ? blind?.reason : undefined
    const starting = new Set(intake === 'all' && paused === undefined && blind === undefined ? start : [])
    for (const uid of starting) {
      const member = members.get(uid)
      // One that is being checked has only kept its place.
      if (member && isWaiting(member)) member.actor.send({ type: 'start' })
    }
    for (const member of members.all()) {
      if (member.result !== undefined || starting.has(member.uid)) continue
      if (isBeforeDrain(member.actor.getSnapshot())) member.actor.send({ type: 'wait' })
      if (!isWaiting(member)) continue
      const before = members.beforeIt(member)
      const reason = before ? ({ code: 'awaits-settlement', pod: before.name } as const) : full
      // A look takes a moment, of which nobody has to hear.
      const unseen = blind?.isBroken === true ? blind.reason : undefined
      const held = intake === 'all' ? undefined : ({ code: 'no-further-start' } as const)
      members.tellWaiting(member, paused ?? unseen ?? reason ?? held)
    }
    reloadGuard.watch()
    const all = [...members.all()]
    const rest = all.filter(({ result }) => result === undefined)
    // Nothing is under way and nothing more will start: those that wait come to their end unchanged.
    const resting = rest.length > 0 && rest.every((member) => isWaiting(member))
    if (resting && intake !== 'all') for (const { actor } of rest) actor.send({ type: 'interrupt' })
    else if (resting && paused !== undefined) options.onRest()
    // For one that is looked at while it waits the time goes on.
    if (!rest.some(({ actor }) => isLookedAt(actor.getSnapshot())))
      stall.wait(resting && paused === undefined && starting.size === 0 ? (full ?? unsure) : undefined)
    if (rest.length === 0) {
      // What comes up from now on is another run's: this one has its account to write, and that may take long.
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

  /** As it was planned; less where it is a share, and pods have been scaled away since: else all that are left could leave. */
  function windowNow(included: readonly Observation[]): number {
    const counted = included.filter(({ pod }) => options.expectsHeir(pod) && (pod.deleting || !pod.finished))
    return Math.min(options.window, windowSize(settings.maxUnavailable, counted.length))
  }

  /**
   * Since its turn came it is known better than it was when the run was planned; also once it waits for another turn, which it would
   * get again and again for what the plan says.
   */
  function operatorOut(uid: string): OperatorOut {
    const member = members.get(uid)
    const record = member && contextOf(member).record
    // It was not looked for where it needs no drain.
    if (record && record.undrained === undefined)
      lastFound.set(
        uid,
        howMuchOut(record.targets, ({ untouched }) => untouched),
      )
    return lastFound.get(uid) ?? options.operatorOut(uid)
  }

  /**
   * Its workload has let go of it, and nothing is open for it: as good as gone. Found by reading: somebody had taken the label of a
   * pod that was ill; the run upgraded it all the same, or failed for it, or waited until it was well.
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
   * Pods that have none yet get their machine: those of the start, and later ones that came up on other images. What is
   * open is brought to its end also by a run that is held: nobody else would say that it is.
   */
  function takeIn(included: readonly Observation[]): void {
    if (intake === 'none') return
    // As it is at the beginning: one that has failed before holds the run as soon as it is taken in, and the others are named too.
    const openAlone = intake === 'open'
    const others = included.filter(({ pod }) => !members.has(pod.uid))
    for (const { pod, stored } of others.sort((a, b) => options.byUpgradeOrder(a.pod, b.pod))) {
      // One that is going, or was evicted, is taken in only for what an earlier run has left open for it.
      if ((pod.deleting || pod.finished || openAlone) && !mayBeOpen(stored)) continue
      // Its address is still being settled for the pod before it.
      if (members.settlingFor(pod)) continue
      const input = options.inputFor(pod)
      if (input === undefined) continue
      members.add(input)
      if (undoes) members.get(pod.uid)!.actor.send({ type: 'interrupt' })
    }
  }

  /** For a place in the window. */
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
      // Lost before it began: then they are another owner's, too.
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
