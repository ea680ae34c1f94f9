import { said } from './recorded.ts'
import type { AnyEventObject, SnapshotFrom } from 'xstate'
import { getInitialMicrosteps, getMicrosteps } from 'xstate'
import type { Journal, ReadJournal } from '../../../src/pods/glossary.ts'
import { isOpen, openJournal } from '../../../src/pods/open-journal.ts'
import { testPod } from '../../../src/pods/testing/raw-pod.ts'
import type { PodContext, PodUpgradeInput } from '../context.ts'
import { isEnding, isMoved } from '../facts.ts'
import type { podUpgradeMachine } from '../index.ts'
import { TARGET, V1, V2 } from './world.ts'

/* The events of a pod upgrade in each of its states, for the exploration of all its paths. */

export type Snapshot = SnapshotFrom<typeof podUpgradeMachine>

interface Node {
  path: string[]
  invoke: { id: string }[]
  transitions: Map<string, unknown>
}

/** The active states, the outermost first. */
export function activeNodes(snapshot: Snapshot): Node[] {
  return (snapshot as unknown as { _nodes: Node[] })._nodes
}

export function pathOf(snapshot: Snapshot): string {
  return activeNodes(snapshot)
    .map(({ path }) => path.join('.'))
    .toSorted((a, b) => b.length - a.length)[0]!
}

const container = (id: string, image: string, from: string, ready = true) => ({
  name: 'app',
  image,
  status: { id, image: from, imageId: `sha256:${from}`, running: true, ready },
})
const V9 = 'registry/app:v9'
const STARTED = '2026-01-01T00:00:00Z'
const usual = { ip: '10.0.0.1', graceSeconds: 1 }
export const PODS = {
  before: testPod({ ...usual, generation: 1, observedGeneration: 1, containers: [container('c1', V1, V1)] }),
  asked: testPod({ ...usual, generation: 2, observedGeneration: 1, containers: [container('c1', V2, V1)] }),
  witness: testPod({ ...usual, generation: 2, observedGeneration: 2, containers: [container('c1', V2, V1)] }),
  started: testPod({
    ...usual,
    generation: 2,
    observedGeneration: 2,
    ready: false,
    containers: [container('c2', V2, V2, false)],
  }),
  ready: testPod({ ...usual, generation: 2, observedGeneration: 2, containers: [container('c2', V2, V2)] }),
  // The kubelet reports no generation, and the new image has the old digest.
  retagged: testPod({
    ...usual,
    generation: 2,
    containers: [{ name: 'app', image: V2, status: { ...container('c2', V2, V1).status, startedAt: STARTED } }],
  }),
  hopeless: testPod({
    ...usual,
    generation: 2,
    observedGeneration: 2,
    ready: false,
    containers: [{ name: 'app', image: V2, status: { id: 'c1', waiting: { reason: 'InvalidImageName' } } }],
  }),
  back: testPod({
    ...usual,
    generation: 3,
    observedGeneration: 2,
    ready: false,
    containers: [container('c2', V1, V2, false)],
  }),
  backSeen: testPod({
    ...usual,
    generation: 3,
    observedGeneration: 3,
    ready: false,
    containers: [container('c2', V1, V2, false)],
  }),
  backReady: testPod({ ...usual, generation: 3, observedGeneration: 3, containers: [container('c3', V1, V1)] }),
  moved: testPod({ ...usual, ip: '10.0.0.2', generation: 1, observedGeneration: 1, containers: [container('c1', V1, V1)] }),
  // Another writer has patched the pod a moment ago.
  others: testPod({ ...usual, generation: 2, observedGeneration: 2, containers: [container('c1', V9, V1)] }),
  deleting: testPod({ ...usual, generation: 1, observedGeneration: 1, deleting: true, containers: [container('c1', V1, V1)] }),
}

/** The answers of each port, by the id of its invoke. */
function answersOf(id: string, path: string, { record, stored, pod, restart, epoch }: PodContext): object[] {
  const unknown = { kind: 'unknown', reason: said('no answer') } as const
  const closed: ReadJournal = record ? { kind: 'read', journal: { ...record, epoch: epoch - 1, step: 'closed' } } : stored
  const isFence = path.includes('.fencing.')
  const fenced = record && { ...(openJournal(stored) ?? record), fence: (record.fence ?? 0) + 1 }
  const recorded: ReadJournal = record ? { kind: 'read', journal: isFence ? fenced! : record } : stored
  const usurped: ReadJournal = record ? { kind: 'read', journal: { ...record, run: 'other', epoch: epoch + 1 } } : stored
  const earlier: ReadJournal = record ? { kind: 'read', journal: { ...record, epoch: epoch - 1 } } : stored
  const home = record?.rollback ? PODS.backReady : record?.generation === undefined ? PODS.before : PODS.ready
  const isPatched = record?.step === 'patched' && restart === undefined && pod !== PODS.retagged
  const after = record?.rollback && record.step === 'patched' ? PODS.back : isPatched ? PODS.asked : pod
  switch (id) {
    case 'snapshot':
      return [{ kind: 'taken', targets: [TARGET], address: '10.0.0.1' }, { kind: 'absent', reason: said('not there') }, unknown]
    case 'rehearse':
      return [{ kind: 'accepted' }, { kind: 'refused', reason: said('policy') }, unknown]
    case 'enroll':
    case 'settle':
      return [{ kind: 'stored' }, unknown]
    case 'store':
      return [
        { kind: 'stored', seen: { pod: after, stored: recorded } },
        { kind: 'rejected', reason: said('test failed') },
        unknown,
      ]
    case 'read':
      return [
        { kind: 'read', seen: { pod: after, stored: recorded } },
        { kind: 'read', seen: { pod, stored } },
        { kind: 'read', seen: { pod, stored: usurped } },
        // The intent of an earlier owner becomes visible.
        ...(path.startsWith('draining') ? [{ kind: 'read', seen: { pod, stored: earlier } }] : []),
        // The earlier owner has brought the pod home. Once the record is claimed, no other owner can do that.
        ...(path.startsWith('claiming') ? [{ kind: 'read', seen: { pod: home, stored: closed } }] : []),
        { kind: 'gone' },
        { kind: 'refused', reason: said('forbidden') },
        unknown,
      ]
    case 'pulls':
      return [{ kind: 'read', pulls: [] }, { kind: 'read', pulls: [{ container: 'app', image: V2, at: STARTED }] }, unknown]
    case 'drain':
    case 'restore':
      return [
        { kind: 'applied' },
        { kind: 'applied', lateCall: true },
        { kind: 'retryable', reason: said('throttled') },
        { kind: 'refused', reason: said('no') },
        unknown,
      ]
    case 'inspect':
      return [
        { state: 'in', inFlight: 1, detail: said('in') },
        { state: 'in', inFlight: 1, pending: true, detail: said('in') },
        { state: 'out', inFlight: 0, detail: said('out') },
        { state: 'out', inFlight: 2, detail: said('out') },
        { state: 'out', inFlight: null, emptying: true, detail: said('out') },
        {
          state: 'out',
          inFlight: 0,
          reclaimed: { loadBalancer: 'edge', target: 'web-0', admin: 'in', inFlight: 1 },
          detail: said('out'),
        },
        { state: 'mixed', inFlight: null, detail: said('mixed') },
        { state: 'unknown', inFlight: null, detail: said('no answer') },
      ]
    case 'compare':
      return [
        { kind: 'equal' },
        { kind: 'different', reason: said('weight') },
        { kind: 'different', reason: said('out'), drained: true },
        unknown,
      ]
    case 'relocate':
      return [{ kind: 'same', address: '10.0.0.2' }, { kind: 'elsewhere', reason: said('nowhere') }, unknown]
    default:
      throw new Error(`no answers for the invoke ${id}`)
  }
}

/** The events that the machine's own timers and calls can send now. */
export function internalEvents(snapshot: Snapshot): AnyEventObject[] {
  const path = pathOf(snapshot)
  return activeNodes(snapshot).flatMap(({ invoke, transitions }) => [
    ...invoke.flatMap(({ id }) => [
      ...answersOf(id, path, snapshot.context).map((output) => ({ type: `xstate.done.actor.${id}`, output, actorId: id })),
      { type: `xstate.error.actor.${id}`, error: new Error('a bug'), actorId: id },
    ]),
    ...[...transitions.keys()].filter((type) => type.startsWith('xstate.after.')).map((type) => ({ type })),
  ])
}

function nameOf(pod: PodContext['pod']): string {
  return Object.keys(PODS).find((name) => PODS[name as keyof typeof PODS] === pod) ?? ''
}

/** The events that the world can send at any moment, and the next states of the pod. */
export function worldEvents({ context }: Snapshot): AnyEventObject[] {
  const { pod, stored, gone } = context
  const next: Partial<Record<string, (keyof typeof PODS)[]>> = {
    before: ['moved', 'deleting'],
    asked: ['witness', 'hopeless', 'deleting'],
    witness: ['started', 'deleting'],
    // Another writer takes the images back by hand.
    hopeless: ['back'],
    started: ['ready'],
    ready: ['started'],
    back: ['backSeen', 'deleting'],
    backSeen: ['backReady'],
  }
  const now = nameOf(pod)
  return [
    ...(gone ? [] : (next[now] ?? []).map((name) => ({ type: 'observed', pod: PODS[name], stored }))),
    { type: 'gone' },
    { type: 'interrupt' },
    { type: 'start' },
    { type: 'reloaded' },
    { type: 'heir', heir: { pod: PODS.ready, sameAddress: true, isDrained: false, isReady: true }, expected: true },
    { type: 'heir', heir: { pod: PODS.others, sameAddress: true, isDrained: false, isReady: true }, expected: true },
    { type: 'heir', heir: { pod: PODS.ready, sameAddress: true, isDrained: true, isReady: true }, expected: true },
    { type: 'heir', heir: { pod: PODS.ready, sameAddress: false, isDrained: false, isReady: true }, expected: true },
    { type: 'heir', heir: null, expected: false },
  ]
}

/**
 * The key of a place. Snapshots with the same key count as one place, which is coarse enough to visit all places and fine enough to reach
 * every state. Data that no later state reads is left out, since most places would differ in that alone.
 */
export function placeOf(snapshot: Snapshot): string {
  const { record, stored, heir, pod, gone, interrupted, keepsPatch, lateCall, expired, outcome } = snapshot.context
  const path = pathOf(snapshot)
  const isSettling = path.startsWith('settling')
  // A pod that goes away is settled by its targets and its replacement.
  const isLeaving = isSettling && isEnding(snapshot.context)
  return JSON.stringify([
    path,
    interrupted,
    isOpen(stored),
    (!isSettling || path.startsWith('settling.restoring')) && expired !== undefined,
    isLeaving
      ? [record?.step, path.startsWith('settling.restoring') && lateCall]
      : [
          record && [record.step, record.generation !== undefined, record.rollback !== undefined],
          gone || [nameOf(pod), isMoved(snapshot.context)],
          keepsPatch,
          lateCall,
          outcome,
        ],
    isSettling && (heir ? [heir.sameAddress, heir.isDrained, heir.isReady, heir.pod === PODS.others] : [heir === null]),
  ])
}

/** The beginnings of an upgrade: a fresh one, and one from each record that an earlier owner may have left. */
export function beginnings(): PodUpgradeInput[] {
  const common = {
    run: 'run-1',
    epoch: 2,
    wanted: [{ container: 'app', image: V2 }],
    rehearsed: false,
    address: '10.0.0.1',
    gone: false,
  }
  const at = (step: Journal['step'], { generation, baseline }: Partial<Journal> = {}): ReadJournal => ({
    kind: 'read',
    journal: {
      run: 'run-1',
      epoch: 1,
      attempt: 1,
      step,
      baseline: baseline ?? [{ name: 'app', image: V1, containerId: 'c1', imageId: `sha256:${V1}` }],
      targets: [TARGET],
      ...(generation === undefined ? {} : { generation }),
    },
  })
  const rolledBack = (stored: ReadJournal): ReadJournal =>
    stored.kind === 'read'
      ? { ...stored, journal: { ...stored.journal, rollback: [{ container: 'app', image: V1 }], generation: 3 } }
      : stored
  return [
    { ...common, pod: PODS.back, stored: rolledBack(at('patched')) },
    { ...common, pod: PODS.backReady, stored: rolledBack(at('restore')) },
    { ...common, pod: PODS.before, stored: { kind: 'none' } },
    { ...common, pod: PODS.before, stored: { kind: 'none' }, rehearsed: true },
    { ...common, pod: PODS.ready, stored: { kind: 'none' } },
    { ...common, pod: PODS.before, stored: at('drain') },
    { ...common, pod: PODS.others, stored: at('drain', { baseline: [{ name: 'app', image: V9, containerId: 'c1' }] }) },
    { ...common, pod: PODS.asked, stored: at('patched', { generation: 2 }) },
    { ...common, pod: PODS.retagged, stored: at('patched', { generation: 0 }) },
    { ...common, pod: PODS.ready, stored: at('restore', { generation: 2 }) },
    { ...common, pod: PODS.before, stored: at('restore') },
    // An earlier run has patched the pod to other images.
    {
      ...common,
      wanted: [{ container: 'app', image: 'registry/app:v3' }],
      pod: PODS.witness,
      stored: at('patched', { generation: 2 }),
    },
    {
      ...common,
      wanted: [{ container: 'app', image: 'registry/app:v3' }],
      pod: PODS.ready,
      stored: at('restore', { generation: 2 }),
    },
    { ...common, pod: PODS.before, stored: { kind: 'unreadable', problem: { code: 'record-not-json' } } },
    { ...common, epoch: 1, run: 'run-0', pod: PODS.before, stored: at('drain') },
    { ...common, pod: PODS.before, stored: { kind: 'none' }, gone: true, targets: [TARGET] },
    { ...common, pod: PODS.before, stored: { kind: 'none' }, gone: true, targets: [{ ...TARGET, untouched: true }] },
    { ...common, pod: PODS.moved, stored: at('drain') },
  ]
}

export interface Place {
  snapshot: Snapshot
  /** The place that each event leads to, with the states on the way. Empty where the event is not handled. */
  exits: { event: AnyEventObject; through: Snapshot[] }[]
}

/** All places that the machine can reach. */
export function explore(machine: typeof podUpgradeMachine): { places: Map<string, Place>; through: Set<string> } {
  const places = new Map<string, Place>()
  const through = new Set<string>()
  const open: Place[] = []
  const visit = (snapshot: Snapshot): void => {
    const id = placeOf(snapshot)
    if (places.has(id)) return
    const place = { snapshot, exits: [] }
    places.set(id, place)
    open.push(place)
  }
  for (const input of beginnings()) {
    const steps = getInitialMicrosteps(machine, input).map(([snapshot]) => snapshot)
    for (const step of steps) through.add(pathOf(step))
    visit(steps.at(-1)!)
  }
  for (let place = open.pop(); place; place = open.pop()) {
    const { snapshot, exits } = place
    if (snapshot.status !== 'active') continue
    for (const event of [...internalEvents(snapshot), ...worldEvents(snapshot)]) {
      const steps = getMicrosteps(machine, snapshot, event as never).map(([step]) => step)
      exits.push({ event, through: steps })
      for (const step of steps) through.add(pathOf(step))
      if (steps.length > 0) visit(steps.at(-1)!)
    }
  }
  return { places, through }
}
