import type { Actor } from 'xstate'
import { createActor } from 'xstate'
import type { Observation, PodUpgradeInput } from '../../machines/pod-upgrade/context.ts'
import type { podUpgradeMachine } from '../../machines/pod-upgrade/index.ts'
import type { PodPorts } from '../../machines/pod-upgrade/ports.ts'
import { isVanished } from '../../machines/pod-upgrade/facts.ts'
import { waitingFor } from '../../machines/pod-upgrade/waiting.ts'
import type { PodView } from '../pods/glossary.ts'
import { byUpgradeOrder } from '../pods/heir.ts'
import { admit, windowSize } from '../plan/window.ts'
import type { Clock } from '../ports/clock.ts'
import type { PodResult, PodState, RunEventBody } from './events.ts'
import type { EndpointStore } from './endpoint-store.ts'
import { exposedPods } from './exposed-pods.ts'
import type { PodStore } from './pod-store.ts'
import { heirOf } from './heirs.ts'
import { podResult } from './pod-result.ts'
import { patientClocks } from './patient-clock.ts'
import { podMachine } from './pod-machine.ts'
import type { Beside } from './beside.ts'
import { createReloadGuard } from './reload-guard.ts'
import type { RunSettings } from './settings.ts'
import type { Snapshot } from './snapshots.ts'
import { createStall } from './stall.ts'
import { badEnd, isAdmitting, isBeforeDrain, isLookedAt, isUntouched, isProving, stateOf } from './snapshots.ts'
import type { Traffic } from './traffic.ts'
import type { WindowMember } from './window-pods.ts'
import { windowPods } from './window-pods.ts'
import type { PodOwner } from './missing-pods.ts'
import { isOpen, mayBeOpen } from '../pods/open-journal.ts'

/** Runs the pods of a run through their upgrades, as many at once as the window has places. */
export interface Rollout {
  /** The pod has changed, is gone, or its endpoint has: by uid. */
  onPod(uid: string): void
  onGone(uid: string): void
  onEndpoints(uids: Iterable<string>): void
  /** Whether the pods can be watched has changed, or it was looked whether one is in the load balancers. */
  onSight(): void
  /** A workload has changed: how many pods there should be, and what is to come in the place of one. */
  onWorkload(): void
  /** Starts with the pods that are there, and with what earlier runs left to settle. */
  start(ghosts: readonly PodUpgradeInput[]): void
  /** Starts no new pod, and puts back what is drained and not patched; what is patched comes home. */
  hold(reason: string): void
  /** Starts no new pod until `resume`; what is under way goes on to its end. */
  pause(reason: string): void
  resume(): void
  /** As `hold`, for all that is open, taken in or not. */
  abort(reason: string): void
  /** The same, and after `graceMs` leaves what is not home. */
  interrupt(graceMs: number): void
  /** Leaves everything as it is. */
  checkpoint(): void
  /** Another owner has the workload. */
  lose(reason: string): void
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
  workloads: readonly PodOwner[]
  /** Pods of the same workloads that are none of its concern, and fill the window all the same. */
  beside: Beside
  /** Resolves once what is known is of now. */
  refresh(): Promise<void>
  /** What a pod's machine starts from; undefined where nothing is to be done with it. */
  inputFor(pod: PodView): PodUpgradeInput | undefined
  /** Something will take the place of this pod. */
  expectsHeir(pod: PodView): boolean
  /** Has it come in the place of one that is gone? */
  isHeir(gone: PodView, candidate: PodView): boolean
  /** An operator had this pod out of rotation when the run was planned. */
  isOperatorOut(uid: string): boolean
  /** The pod that is half done, or gone, and whose entry somebody has pointed at this one, drained as it was. */
  drainedFor(uid: string): string | undefined
  /** It is not known to be in every load balancer. */
  isUnserved(pod: PodView): boolean
  /** It is paused, and nothing is under way. Called whenever it is found so. */
  onRest(): void
  /** For the ready deadline no pod could start, since others that are none of the run's own doing are unavailable. */
  onStalled(reason: string): void
  tell(event: RunEventBody): void
}

/**
 * A decision looks at every pod, and something changes thirty times in the upgrade of each. So the next one comes no
 * sooner than a millisecond for so many pods after the last: 50 ms for 1,000 pods, of which it takes one or two.
 */
const PODS_PER_MS = 20

type PodActor = Actor<typeof podUpgradeMachine>

interface Member {
  uid: string
  name: string
  actor: PodActor
  state: PodState | null
  since: number
  /** Until when it has to be ready. */
  readyBy: number | undefined
  detail: string
  phases: Partial<Record<PodState, number>>
  result: PodResult | undefined
}

export function createRollout(options: RolloutOptions): Rollout {
  const { clock, settings, store, traffic, tell } = options
  /** For all that is decided when time is over. */
  const patientClock = patientClocks(clock, options.refresh)
  const stall = createStall({ clock: patientClock(), forMs: settings.readyDeadlineMs, onStalled: options.onStalled })
  const members = new Map<string, Member>()
  /** Those that are being settled: hardly ever any, and asked for at every change. */
  const settling = new Set<Member>()
  /** Those whose pods are at their end, and that are not: what comes in their place waits for them. */
  const leaving = new Set<Member>()
  /** Whom it takes in: all pods, once it is held those that are open already, and in the end none. */
  let intake: 'all' | 'open' | 'none' = 'all'
  /** What is drained and not patched is put back. */
  let undoes = false
  /** Why no pod is started for now. */
  let paused: string | undefined
  let started = false
  let planned = false
  let decidedAt = Number.NEGATIVE_INFINITY
  let graceTimer: unknown
  let resolveFinished: (results: PodResult[]) => void = () => {}
  const finished = new Promise<PodResult[]>((resolve) => {
    resolveFinished = resolve
  })

  const exposed = () => exposedPods({ members: members.values(), store, traffic })
  const reloadGuard = createReloadGuard({ clock, traffic, exposed, onLooked: plan })
  /** In the state that the pod is in. */
  const waitedMs = (uid: string): number => clock.now() - (members.get(uid)?.since ?? clock.now())
  /** Goes on where it has to be drained again in between: reloads would else put it off for ever. */
  const readyInMs = (uid: string): number => {
    const member = members.get(uid)!
    // For what comes in its place.
    if (member.state === 'settling') return settings.readyDeadlineMs
    member.readyBy ??= clock.now() + settings.readyDeadlineMs
    return Math.max(0, member.readyBy - clock.now())
  }
  // Once per run, not once per pod: measured, 10,000 pods take a tenth of the memory so.
  const machine = podMachine({ ...options, waitedMs, readyInMs })

  function add(input: PodUpgradeInput): void {
    const actor = createActor(machine, { input, clock: patientClock() })
    const { uid, name } = input.pod
    const member: Member = {
      uid,
      name,
      actor,
      state: null,
      since: clock.now(),
      readyBy: undefined,
      detail: '',
      phases: {},
      result: undefined,
    }
    members.set(uid, member)
    actor.subscribe({
      next: (snapshot) => onTransition(member, snapshot),
      error: (error) => breakOff(member, error),
    })
    actor.start()
    tellEndpoint(uid)
  }

  /** One that has come to its end hears nothing any more, and XState warns of it. */
  function tellEndpoint(uid: string): void {
    const member = members.get(uid)
    if (member === undefined || member.result !== undefined) return
    const ready = options.endpoints.readiness(uid)
    if (ready !== contextOf(member).endpointReady) member.actor.send({ type: 'endpoint', ready })
  }

  function onTransition(member: Member, snapshot: Snapshot): void {
    const state = stateOf(snapshot)
    if (snapshot.status !== 'done' && !isUntouched(state) && isVanished(snapshot.context)) leaving.add(member)
    else leaving.delete(member)
    if (state !== member.state) {
      const now = clock.now()
      if (member.state !== null) member.phases[member.state] = Math.round((member.phases[member.state] ?? 0) + now - member.since)
      member.since = now
      if (!isProving(state)) member.readyBy = undefined
      const reason = waitingFor(state, snapshot.context)
      tell({ type: 'podState', uid: member.uid, pod: member.name, from: member.state, to: state, reason })
      member.state = state
      if (state === 'settling') settling.add(member)
      else settling.delete(member)
      member.detail = reason
      holdAfter(member, badEnd(snapshot))
      if (state === 'settling') tellHeir(member)
      if (snapshot.status === 'done') end(member, snapshot)
      plan()
      return
    }
    detail(member, waitingFor(state, snapshot.context))
    // Its intent is not stored, and it will be tried again: by then the window may have no place for it. Or it asks for one.
    if (snapshot.matches({ draining: 'pausing' }) || isAdmitting(snapshot)) plan()
  }

  /** The machine itself has failed: a bug. The pod is left to a person, and the run goes on to its end. */
  function breakOff(member: Member, error: unknown): void {
    if (member.result !== undefined) return
    const { uid, name, phases } = member
    const reason = `a bug in sluice: ${String(error)}`
    member.state = 'needsOperator'
    settling.delete(member)
    leaving.delete(member)
    member.result = { uid, pod: name, outcome: 'needsOperator', reason, out: isOpen(store.get(uid)?.stored), phases }
    tell({ type: 'podFinished', result: member.result })
    if (intake === 'all') hold(`${name} needs a person: no further pod is started`, { undo: false })
    plan()
  }

  function detail(member: Member, text: string): void {
    if (text === '' || text === member.detail || member.state === null) return
    member.detail = text
    tell({ type: 'podDetail', uid: member.uid, pod: member.name, state: member.state, detail: text })
  }

  function end(member: Member, { context, value }: Snapshot): void {
    const { uid, phases } = member
    member.result = podResult(context, { isDone: value === 'done', now: store.get(uid) ?? context, phases })
    tell({ type: 'podFinished', result: member.result })
  }

  /** Decided before the pod has come to its end: one that is put back after a refusal frees its place before that. */
  function holdAfter({ name }: Member, how: string | undefined): void {
    if (how === undefined || intake !== 'all') return
    hold(`${name} ${how}: no further pod is started`, { undo: false })
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
      members: [...members.values()].map(standingOf),
      isOperatorOut,
    })
    const { start, waitingFor: crowded } = admit(pods, windowNow(included))
    const blind = store.isCurrent() && options.beside.isCurrent() ? undefined : 'the pods cannot be watched at this moment'
    // Where none is to start the window holds nobody up. Found by trial: the one that would have started waited for itself. And by
    // reading: who could not watch them waited without end.
    const full = intake === 'all' ? (crowded ?? blind) : undefined
    const starting = new Set(intake === 'all' && paused === undefined && blind === undefined ? start : [])
    for (const uid of starting) {
      const member = members.get(uid)
      // One that is being checked has only kept its place.
      if (member && isWaiting(member)) member.actor.send({ type: 'start' })
    }
    for (const member of members.values()) {
      if (member.result !== undefined || starting.has(member.uid)) continue
      if (isBeforeDrain(member.actor.getSnapshot())) member.actor.send({ type: 'wait' })
      if (!isWaiting(member)) continue
      const before = beforeIt(member)
      const reason = before ? `what was drained for ${before.name} at its address is not settled yet` : full
      detail(member, paused ?? blind ?? reason ?? (intake === 'all' ? '' : 'no further pod is started'))
    }
    reloadGuard.watch()
    const all = [...members.values()]
    const rest = all.filter(({ result }) => result === undefined)
    // Nothing is under way and nothing more will start: those that wait come to their end unchanged.
    const resting = rest.length > 0 && rest.every((member) => isWaiting(member))
    if (resting && intake !== 'all') for (const { actor } of rest) actor.send({ type: 'interrupt' })
    else if (resting && paused !== undefined) options.onRest()
    // For one that is looked at while it waits the time goes on.
    if (!rest.some(({ actor }) => isLookedAt(actor.getSnapshot())))
      stall.wait(resting && paused === undefined && starting.size === 0 ? full : undefined)
    if (rest.length === 0) {
      // What comes up from now on is another run's: this one has its account to write, and that may take long.
      intake = 'none'
      clock.clearTimeout(graceTimer)
      stall.wait(undefined)
      resolveFinished(all.map(({ result }) => result!))
    }
  }

  /** As it was planned; less where it is a share, and pods have been scaled away since: else all that are left could leave. */
  function windowNow(included: readonly Observation[]): number {
    const counted = included.filter(({ pod }) => (pod.deleting ? options.expectsHeir(pod) : !pod.finished))
    return Math.min(options.window, windowSize(settings.maxUnavailable, counted.length))
  }

  /** Since its turn came it is known better than it was when the run was planned. */
  function isOperatorOut(uid: string): boolean {
    const member = members.get(uid)
    const record = member && contextOf(member).record
    return record ? record.targets.some(({ untouched }) => untouched) : options.isOperatorOut(uid)
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
    for (const { pod, stored } of others.sort((a, b) => byUpgradeOrder(a.pod, b.pod))) {
      // One that is going, or was evicted, is taken in only for what an earlier run has left open for it.
      if ((pod.deleting || pod.finished || openAlone) && !mayBeOpen(stored)) continue
      // Its address is still being settled for the pod before it.
      if (settlingFor(pod)) continue
      const input = options.inputFor(pod)
      if (input === undefined) continue
      add(input)
      if (undoes) members.get(pod.uid)!.actor.send({ type: 'interrupt' })
    }
  }

  function standingOf(member: Member): WindowMember {
    const { uid, name, actor, result } = member
    const snapshot = actor.getSnapshot()
    const state = isBeforeDrain(snapshot) || isAdmitting(snapshot) ? 'checking' : member.state
    const { pod, gone, address, record } = contextOf(member)
    const wasFound = (record?.targets.length ?? 0) > 0
    return { uid, name, state, result, pod, gone, address, mustWait: beforeIt(member) !== undefined, wasFound }
  }

  /**
   * Whose targets are still to be settled that this one is to have. Found by simulation: a restore that was under way as its
   * pod was deleted put the next one in its place back, in the middle of its upgrade.
   */
  function settlingFor(pod: PodView): Member | undefined {
    return [...leaving].find((member) => options.isHeir(placeOf(member), pod))
  }

  /**
   * The same for one that has its machine, and no effect yet: it may have got its address since. Found by simulation:
   * what sluice itself has out for the pod before it looks like an operator's doing, and comes back in the middle.
   */
  function beforeIt({ uid, state }: Member): Member | undefined {
    const pod = state === 'queued' || state === 'checking' ? store.get(uid)?.pod : undefined
    return pod && settlingFor(pod)
  }

  /** The pod, at the address that its targets mean. */
  function placeOf(member: Member): PodView {
    const { pod, address } = contextOf(member)
    return { ...pod, ...(address === undefined ? {} : { ip: address }) }
  }

  /** For a place in the window. */
  function isWaiting(member: Member): boolean {
    return member.state === 'queued' || isAdmitting(member.actor.getSnapshot())
  }

  function contextOf({ actor }: Member): Snapshot['context'] {
    return actor.getSnapshot().context
  }

  function tellHeirs(): void {
    for (const member of settling) tellHeir(member)
  }

  /** Tells a pod that is being settled what has come in its place. */
  function tellHeir(member: Member): void {
    const gone = placeOf(member)
    const { record } = contextOf(member)
    const heir = heirOf(gone, { record, pods: store.all(), isCurrent: store.isCurrent(), isHeir: options.isHeir })
    member.actor.send({ type: 'heir', heir, expected: options.expectsHeir(gone) })
  }

  function lookAnew(): void {
    tellHeirs()
    plan()
  }

  function send(event: { type: 'interrupt' } | { type: 'checkpoint' } | { type: 'lost'; reason: string }): void {
    for (const { actor, result } of members.values()) if (result === undefined) actor.send(event)
    plan()
  }

  function hold(reason: string, { undo } = { undo: true }): void {
    if (intake === 'all') {
      tell({ type: 'warning', message: reason })
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
      if (intake !== 'none') for (const ghost of ghosts) add(ghost)
      plan()
    },
    onPod(uid) {
      const observation = store.get(uid)
      const member = members.get(uid)
      if (observation && member && member.result === undefined) member.actor.send({ type: 'observed', ...observation })
      lookAnew()
    },
    onGone(uid) {
      const member = members.get(uid)
      if (member && member.result === undefined) member.actor.send({ type: 'gone' })
      lookAnew()
    },
    onSight: lookAnew,
    onWorkload: lookAnew,
    onEndpoints(uids) {
      for (const uid of uids) tellEndpoint(uid)
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
      hold('interrupted: no further pod is started')
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
