import type { Actor } from 'xstate'
import { createActor } from 'xstate'
import type { PodUpgradeInput } from '../../../machines/pod-upgrade/context.ts'
import { isVanished, missingEndpointOf } from '../../../machines/pod-upgrade/facts.ts'
import type { podUpgradeMachine } from '../../../machines/pod-upgrade/index.ts'
import { waitingFor } from '../../../machines/pod-upgrade/waiting.ts'
import type { PodView } from '../../pods/glossary.ts'
import { isOpen } from '../../pods/open-journal.ts'
import type { Clock } from '../../ports/clock.ts'
import type { EndpointStore } from '../../observation/endpoint-store.ts'
import type { PodStore } from '../../observation/pod-store.ts'
import type { Reason, ReasonOf } from '../../reasons/reason.ts'
import type { BadEnding, PodResult, PodState, RunEventBody } from '../events.ts'
import type { Asking } from './asking.ts'
import type { Beside } from './beside.ts'
import { candidatesIn } from './candidates.ts'
import { heirOf } from './heirs.ts'
import type { Deadlines } from './patient-clock.ts'
import type { PodMachineOptions } from './pod-machine.ts'
import { podMachine } from './pod-machine.ts'
import { podResult } from './pod-result.ts'
import type { Snapshot } from './snapshots.ts'
import { badEnding, isAdmitting, isOvertaken, isBeforeDrain, isProving, isUntouched, stateOf } from './snapshots.ts'
import type { WindowMember } from './window-pods.ts'

/** The limit for an answer about the pod at a deadline. */
const LOOKS_FOR_MS = 10_000

type PodActor = Actor<typeof podUpgradeMachine>

/** A pod with its machine. */
export interface Member {
  uid: string
  name: string
  actor: PodActor
  state: PodState | null
  since: number
  /** The time until which the pod must be ready. */
  readyBy: number | undefined
  waiting: Reason | undefined
  phases: Partial<Record<PodState, number>>
  /** The first bad outcome that the pod was to have. The pod may go before it reaches that end. */
  badEnd: BadEnding | undefined
  result: PodResult | undefined
}

export interface MembersOptions extends Omit<PodMachineOptions, 'waitedMs' | 'readyInMs'> {
  clock: Clock
  /** The clock for decisions at the end of a time. */
  patientClock(deadlines: Deadlines): Clock
  asking: Asking
  refresh(): Promise<void>
  store: PodStore
  beside: Beside
  endpoints: EndpointStore
  /** Reports whether a pod will come in the place of this one. */
  expectsHeir(pod: PodView): boolean
  /** Reports whether the candidate came in the place of the gone pod. */
  isHeir(gone: PodView, candidate: PodView): boolean
  /** Called once a bad outcome is known, which may be before the pod's end, and again each time. */
  onBadEnd(pod: string, ending: ReasonOf<'held-after'>['ending']): void
  /** Called when the pods that may start, or their reasons to wait, may have changed. */
  onChange(): void
  tell(event: RunEventBody): void
}

/** The pods of a rollout with their machines, their events and their results. */
export interface Members {
  readonly size: number
  all(): Iterable<Member>
  get(uid: string): Member | undefined
  has(uid: string): boolean
  add(input: PodUpgradeInput): void
  /** Tells the reason to wait, where it has changed. */
  tellWaiting(member: Member, reason: Reason | undefined): void
  tellEndpoints(uid: string): void
  /** Tells the pods in settlement about their replacements. */
  tellHeirs(): void
  /** The member whose targets must be settled before this pod can have them. */
  settlingFor(pod: PodView): Member | undefined
  /** The same, for a pod that has its machine and no effect yet. */
  beforeIt(member: Member): Member | undefined
  standingOf(member: Member): WindowMember
}

export function createMembers(options: MembersOptions): Members {
  const { clock, settings, store, onBadEnd, onChange, tell } = options
  const candidates = candidatesIn(options)
  const members = new Map<string, Member>()
  /** The members in settlement. They are few, and are looked up at every change. */
  const settling = new Set<Member>()
  /** The members whose pods have ended, and that have not. Their replacements wait for them. */
  const leaving = new Set<Member>()

  /** The time in the present state. */
  const waitedMs = (uid: string): number => clock.now() - (members.get(uid)?.since ?? clock.now())
  /** The rest of the time to be ready. It goes on during a drain in between, since reloads would put it off for ever otherwise. */
  const readyInMs = (uid: string): number => {
    const member = members.get(uid)!
    // The time for the replacement to be ready.
    if (member.state === 'settling') return settings.readyDeadlineMs
    member.readyBy ??= clock.now() + settings.readyDeadlineMs
    return Math.max(0, member.readyBy - clock.now())
  }
  // One machine serves the whole run: 10,000 pods take a tenth of the memory this way, by measurement.
  const machine = podMachine({ ...options, waitedMs, readyInMs })

  function add(input: PodUpgradeInput): void {
    const deadlines: Deadlines = { isBegun: () => isDeadlineBegun(actor), look: () => look(member) }
    const actor: PodActor = createActor(machine, { input, clock: options.patientClock(deadlines) })
    const { uid, name } = input.pod
    const member: Member = {
      uid,
      name,
      actor,
      state: null,
      since: clock.now(),
      readyBy: undefined,
      waiting: undefined,
      phases: {},
      badEnd: undefined,
      result: undefined,
    }
    members.set(uid, member)
    actor.subscribe({
      next: (snapshot) => onTransition(member, snapshot),
      error: (error) => breakOff(member, error),
    })
    actor.start()
    tellEndpoints(uid)
  }

  /** Observes the pod anew at a deadline, before the deadline decides. */
  async function look(member: Member): Promise<void> {
    // The replacement is another pod, so all pods are observed anew.
    const isSettling = member.state === 'settling'
    if (isSettling || (await options.asking.pod(contextOf(member).pod, LOOKS_FOR_MS)) !== 'known') await options.refresh()
    // The EndpointSlices are objects of their own, and are read as well.
    else if (missingEndpointOf(contextOf(member)) !== undefined) await options.endpoints.look(member.uid)
  }

  /** Tells the endpoints. A machine that has ended takes no events, and XState would warn. */
  function tellEndpoints(uid: string): void {
    const member = members.get(uid)
    if (member === undefined || member.result !== undefined) return
    const endpoints = options.endpoints.of(uid)
    if (endpoints !== contextOf(member).endpoints) member.actor.send({ type: 'endpoints', endpoints })
  }

  /** The time for which the workload wants a pod to be ready, where it is longer than `readyFor`. */
  function floorOf({ context }: Snapshot): { minReadyMs?: number } {
    const minReadyMs = options.minReadyMs(context.pod)
    return minReadyMs > settings.readyForMs ? { minReadyMs } : {}
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
      const waiting = waitingFor(state, snapshot.context, floorOf(snapshot))
      const { uid, name: pod, state: from } = member
      tell({ type: 'podState', uid, pod, from, to: state, ...(waiting ? { waiting } : {}) })
      if (state === 'restarting') warnOfRequests(member, snapshot)
      member.state = state
      if (state === 'settling') settling.add(member)
      else settling.delete(member)
      member.waiting = waiting
      const bad = badEnding(snapshot)
      // The outcome of the pod can be open again.
      if (snapshot.context.outcome === undefined) member.badEnd = undefined
      member.badEnd ??= bad
      // The bad end is reported before the pod's end, since a pod that is put back after a refusal frees its place earlier.
      if (bad !== undefined) onBadEnd(member.name, bad.outcome)
      // An overtaken pod holds the run. Otherwise the next pod would be drained and overtaken too, until the next renewal shows the loss.
      if (isOvertaken(snapshot)) onBadEnd(member.name, 'overtaken')
      if (state === 'settling') tellHeir(member)
      if (snapshot.status === 'done') end(member, snapshot)
      onChange()
      return
    }
    tellWaiting(member, waitingFor(state, snapshot.context, floorOf(snapshot)))
    // A pod whose intent is not stored may have lost its place by the next try, and an admitted pod asks for one.
    if (snapshot.matches({ draining: 'pausing' }) || isAdmitting(snapshot)) onChange()
  }

  /** Warns of requests that the configured `proceed` has cut. */
  function warnOfRequests({ name }: Member, { context: { passedOver, traffic } }: Snapshot): void {
    const requests = traffic?.inFlight ?? 0
    if (!passedOver || requests === 0) return
    tell({ type: 'warning', reason: { code: 'patched-with-requests', pod: name, requests } })
  }

  /** Ends a member whose machine has failed, which is a bug. The pod is left to an operator, and the run goes on. */
  function breakOff(member: Member, error: unknown): void {
    if (member.result !== undefined) return
    const { uid, name, phases } = member
    member.state = 'needsOperator'
    settling.delete(member)
    leaving.delete(member)
    member.result = {
      uid,
      pod: name,
      outcome: 'needsOperator',
      reason: { code: 'bug', error: String(error) },
      traffic: isOpen(store.get(uid)?.stored) ? 'out' : 'asBefore',
      record: 'open',
      advice: [],
      phases,
    }
    tell({ type: 'podFinished', result: member.result })
    onBadEnd(name, 'needsOperator')
    onChange()
  }

  function tellWaiting(member: Member, waiting: Reason | undefined): void {
    if (waiting === undefined || member.state === null || isSameReason(waiting, member.waiting)) return
    member.waiting = waiting
    tell({ type: 'podDetail', uid: member.uid, pod: member.name, state: member.state, waiting })
  }

  function end(member: Member, { context, value }: Snapshot): void {
    const { uid, phases, badEnd: bad } = member
    member.result = podResult(context, { isDone: value === 'done', now: store.get(uid) ?? context, phases, badEnd: bad })
    tell({ type: 'podFinished', result: member.result })
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
   * The member whose targets this pod is to have. A restore for the pod before it could otherwise put this pod back in the middle of its
   * upgrade.
   */
  function settlingFor(pod: PodView): Member | undefined {
    return [...leaving].find((member) => options.isHeir(placeOf(member), pod))
  }

  /**
   * The same, for a pod that has its machine and no effect yet, since it may have got its address later. The entry that sluice has out for
   * the pod before it would read as an operator's, and come back during the upgrade.
   */
  function beforeIt({ uid, state }: Member): Member | undefined {
    const pod = state === 'queued' || state === 'checking' ? store.get(uid)?.pod : undefined
    return pod && settlingFor(pod)
  }

  function tellHeirs(): void {
    for (const member of settling) tellHeir(member)
  }

  /** Tells a pod in settlement about its replacement. */
  function tellHeir(member: Member): void {
    const gone = placeOf(member)
    const { record } = contextOf(member)
    const pods = candidates.all()
    const heir = heirOf(gone, { record, pods, isCurrent: candidates.isCurrent(), isHeir: options.isHeir })
    member.actor.send({ type: 'heir', heir, expected: options.expectsHeir(gone) })
  }

  return {
    get size() {
      return members.size
    },
    all: () => members.values(),
    get: (uid) => members.get(uid),
    has: (uid) => members.has(uid),
    add,
    tellWaiting,
    tellEndpoints,
    tellHeirs,
    settlingFor,
    beforeIt,
    standingOf,
  }
}

/** Compares two reasons. Their fields are always made in the same order. */
function isSameReason(one: Reason, other: Reason | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

/**
 * Reports whether the timer that is being made is a deadline. A clock gets no names of timers, but XState has just recorded its newest one.
 */
function isDeadlineBegun({ system }: PodActor): boolean {
  const made = Object.values(system.getSnapshot()._scheduledEvents).at(-1)
  return made !== undefined && /^xstate\.after\.\w+Deadline\./.test(made.event.type)
}

export function contextOf({ actor }: Member): Snapshot['context'] {
  return actor.getSnapshot().context
}

/** The pod at the address of its targets. */
function placeOf(member: Member): PodView {
  const { pod, address } = contextOf(member)
  return { ...pod, ...(address === undefined ? {} : { ip: address }) }
}
