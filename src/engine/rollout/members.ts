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

/** A deadline asks for its pod, and waits so long for an answer. */
const LOOKS_FOR_MS = 10_000

type PodActor = Actor<typeof podUpgradeMachine>

/** A pod that has its machine. */
export interface Member {
  uid: string
  name: string
  actor: PodActor
  state: PodState | null
  since: number
  /** Until when it has to be ready. */
  readyBy: number | undefined
  waiting: Reason | undefined
  phases: Partial<Record<PodState, number>>
  /** The first bad end that it was on its way to: it may go before it is there. */
  badEnd: BadEnding | undefined
  result: PodResult | undefined
}

export interface MembersOptions extends Omit<PodMachineOptions, 'waitedMs' | 'readyInMs'> {
  clock: Clock
  /** For all that is decided when time is over. */
  patientClock(deadlines: Deadlines): Clock
  asking: Asking
  refresh(): Promise<void>
  store: PodStore
  beside: Beside
  endpoints: EndpointStore
  /** Something will take the place of this pod. */
  expectsHeir(pod: PodView): boolean
  /** Has it come in the place of one that is gone? */
  isHeir(gone: PodView, candidate: PodView): boolean
  /** Known before the pod has come to its end; said again each time that it is found so. */
  onBadEnd(pod: string, ending: ReasonOf<'held-after'>['ending']): void
  /** Who may start, and who waits for what, may be another now. */
  onChange(): void
  tell(event: RunEventBody): void
}

/** The pods of a rollout with their machines: what these are told, and what becomes of them. */
export interface Members {
  readonly size: number
  all(): Iterable<Member>
  get(uid: string): Member | undefined
  has(uid: string): boolean
  add(input: PodUpgradeInput): void
  /** Says what the pod waits for, where that is another than before. */
  tellWaiting(member: Member, reason: Reason | undefined): void
  tellEndpoints(uid: string): void
  /** Tells those that are being settled what has come in their place. */
  tellHeirs(): void
  /** Whose targets are still to be settled that this pod is to have. */
  settlingFor(pod: PodView): Member | undefined
  /** The same for one that has its machine, and no effect yet. */
  beforeIt(member: Member): Member | undefined
  standingOf(member: Member): WindowMember
}

export function createMembers(options: MembersOptions): Members {
  const { clock, settings, store, onBadEnd, onChange, tell } = options
  const candidates = candidatesIn(options)
  const members = new Map<string, Member>()
  /** Those that are being settled: hardly ever any, and asked for at every change. */
  const settling = new Set<Member>()
  /** Those whose pods are at their end, and that are not: what comes in their place waits for them. */
  const leaving = new Set<Member>()

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

  /** A deadline of it is over: what has happened that nobody has heard of? */
  async function look(member: Member): Promise<void> {
    // What comes in its place is another.
    const isSettling = member.state === 'settling'
    if (isSettling || (await options.asking.pod(contextOf(member).pod, LOOKS_FOR_MS)) !== 'known') await options.refresh()
    // The slices of its Service are objects of their own.
    else if (missingEndpointOf(contextOf(member)) !== undefined) await options.endpoints.look(member.uid)
  }

  /** One that has come to its end hears nothing any more, and XState warns of it. */
  function tellEndpoints(uid: string): void {
    const member = members.get(uid)
    if (member === undefined || member.result !== undefined) return
    const endpoints = options.endpoints.of(uid)
    if (endpoints !== contextOf(member).endpoints) member.actor.send({ type: 'endpoints', endpoints })
  }

  /** For so long a ready pod has to stay so by its workload, where that is longer than `readyFor`. */
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
      // How it is to end may be open again.
      if (snapshot.context.outcome === undefined) member.badEnd = undefined
      member.badEnd ??= bad
      // Before the pod has come to its end: one that is put back after a refusal frees its place before that.
      if (bad !== undefined) onBadEnd(member.name, bad.outcome)
      // Found by reading: its place was free with that, the next pod was taken out and overtaken too, and so were all of them until
      // the next renewal.
      if (isOvertaken(snapshot)) onBadEnd(member.name, 'overtaken')
      if (state === 'settling') tellHeir(member)
      if (snapshot.status === 'done') end(member, snapshot)
      onChange()
      return
    }
    tellWaiting(member, waitingFor(state, snapshot.context, floorOf(snapshot)))
    // Its intent is not stored, and it will be tried again: by then the window may have no place for it. Or it asks for one.
    if (snapshot.matches({ draining: 'pausing' }) || isAdmitting(snapshot)) onChange()
  }

  /** Found by a fresh user: requests were cut, as he had allowed, and nothing said so. */
  function warnOfRequests({ name }: Member, { context: { passedOver, traffic } }: Snapshot): void {
    const requests = traffic?.inFlight ?? 0
    if (!passedOver || requests === 0) return
    tell({ type: 'warning', reason: { code: 'patched-with-requests', pod: name, requests } })
  }

  /** The machine itself has failed: a bug. The pod is left to a person, and the run goes on to its end. */
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

  function tellHeirs(): void {
    for (const member of settling) tellHeir(member)
  }

  /** Tells a pod that is being settled what has come in its place. */
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

/** Reasons are made in one order of their fields. */
function isSameReason(one: Reason, other: Reason | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

/** A clock is told no names of timers. XState has put the one that it makes on record by then, last of all. */
function isDeadlineBegun({ system }: PodActor): boolean {
  const made = Object.values(system.getSnapshot()._scheduledEvents).at(-1)
  return made !== undefined && /^xstate\.after\.\w+Deadline\./.test(made.event.type)
}

export function contextOf({ actor }: Member): Snapshot['context'] {
  return actor.getSnapshot().context
}

/** The pod, at the address that its targets mean. */
function placeOf(member: Member): PodView {
  const { pod, address } = contextOf(member)
  return { ...pod, ...(address === undefined ? {} : { ip: address }) }
}
