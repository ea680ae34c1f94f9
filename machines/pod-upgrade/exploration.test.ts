import { describe, expect, test } from 'vitest'
import { transition } from 'xstate'
import { openJournal } from '../../src/pods/open-journal.ts'
import type { Reason } from '../../src/reasons/reason.ts'
import type { PodEvent } from './context.ts'
import { podUpgradeMachine } from './index.ts'
import type { Place, Snapshot } from './testing/explore.ts'
import { activeNodes, explore, pathOf, placeOf } from './testing/explore.ts'

/* All paths of the machine: from every beginning, with every answer of every call, every timer and every event of the world. */

/** The machine has the rollback, since that makes more paths. Without it, a failed pod ends where a failed rollback ends. */
const machine = podUpgradeMachine.provide({ guards: { rollsBack: () => true } })
const { places, through } = explore(machine)
const all: Place[] = [...places.values()]
const active = all.filter(({ snapshot }) => snapshot.status === 'active')
const ended = all.filter(({ snapshot }) => snapshot.status !== 'active')
const isInternal = (type: string): boolean => type.startsWith('xstate.')
const isCalling = (snapshot: Snapshot): boolean => activeNodes(snapshot).some(({ invoke }) => invoke.length > 0)

interface StateNode {
  path: string[]
  states: Record<string, StateNode>
}

function leavesOf(node: StateNode): string[] {
  const children = Object.values(node.states)
  return children.length === 0 ? [node.path.join('.')] : children.flatMap(leavesOf)
}

/** The places from which one of `goals` can be reached by the events that `may` accepts. */
function reaching(goals: readonly Place[], may: (type: string) => boolean): Set<string> {
  const sources = new Map<string, string[]>()
  for (const { snapshot, exits } of all) {
    for (const { event, through: steps } of exits) {
      if (steps.length === 0 || !may(event.type)) continue
      const to = placeOf(steps.at(-1)!)
      sources.set(to, [...(sources.get(to) ?? []), placeOf(snapshot)])
    }
  }
  const found = new Set(goals.map(({ snapshot }) => placeOf(snapshot)))
  for (const place of found) for (const source of sources.get(place) ?? []) found.add(source)
  return found
}

test('every state can be reached', () => {
  const unreachable = leavesOf(machine.root as unknown as StateNode).filter((leaf) => !through.has(leaf))
  expect(unreachable).toEqual([])
})

test('every answer of every call, every failure and every timer is handled, everywhere', () => {
  const unhandled = active.flatMap(({ snapshot, exits }) =>
    exits
      .filter(({ event, through: steps }) => isInternal(event.type) && steps.length === 0)
      .map(({ event }) => `${pathOf(snapshot)}: ${JSON.stringify(event)}`),
  )
  expect(unhandled).toEqual([])
})

test('no answer is passed over: each leads to another state', () => {
  const stuck = active.flatMap(({ snapshot, exits }) =>
    exits
      .filter(
        ({ event, through: steps }) =>
          event.type.startsWith('xstate.done') && steps.length > 0 && pathOf(steps[0]!) === pathOf(snapshot),
      )
      .map(({ event }) => `${pathOf(snapshot)}: ${JSON.stringify(event)}`),
  )
  expect(stuck).toEqual([])
})

test('a port that rejects is a bug, and for a person', () => {
  const errors = active.flatMap(({ exits }) => exits.filter(({ event }) => event.type.startsWith('xstate.error')))
  expect(errors.length).toBeGreaterThan(20)
  for (const { through: steps } of errors) {
    expect(pathOf(steps.at(-1)!)).toBe('needsOperator')
    expect(steps.at(-1)!.context.reason).toEqual({ code: 'bug', error: 'Error: a bug' })
  }
})

test('from everywhere an end can be reached, and but for a place in the window without the world’s help', () => {
  const everywhere = reaching(ended, () => true)
  expect(active.filter(({ snapshot }) => !everywhere.has(placeOf(snapshot))).map(({ snapshot }) => pathOf(snapshot))).toEqual([])
  const alone = reaching(ended, isInternal)
  const waiting = active.filter(({ snapshot }) => !alone.has(placeOf(snapshot))).map(({ snapshot }) => pathOf(snapshot))
  expect([...new Set(waiting)]).toEqual(['queued'])
})

test('while a call is under way nothing but its answer, a checkpoint or a lost Lease leads away', () => {
  const away = active
    .filter(({ snapshot }) => isCalling(snapshot) && !pathOf(snapshot).startsWith('restarting'))
    .flatMap(({ snapshot, exits }) =>
      exits
        .filter(({ event, through: steps }) => {
          const isAnswer = event.type.startsWith('xstate.done') || event.type.startsWith('xstate.error')
          // A read may be left unfinished where its answer is known already.
          const isTold = event.type === 'reloaded' && /\.(reading|looking)$/.test(pathOf(snapshot))
          // A write of images may be left for the fence, which finds out whether the images have landed, and keeps them out otherwise.
          const isFenced = event.type === 'reloaded' && steps.some((step) => pathOf(step).endsWith('.fencing.ready'))
          return !isAnswer && !isTold && !isFenced && steps.length > 0 && pathOf(steps.at(-1)!) !== pathOf(snapshot)
        })
        .map(({ event }) => `${pathOf(snapshot)}: ${event.type}`),
    )
  expect(away).toEqual([])
})

const TAKEN: Reason = { code: 'lease-taken', lease: 'sluice', holder: 'x' }

describe.each<{ event: PodEvent; outcome: string; reason: Reason }>([
  {
    event: { type: 'checkpoint' },
    outcome: 'interrupted',
    reason: { code: 'left-as-is' },
  },
  { event: { type: 'lost', reason: TAKEN }, outcome: 'conflict', reason: TAKEN },
])('$event.type', ({ event, outcome, reason }) => {
  test('stops everywhere', () => {
    for (const { snapshot } of active) {
      const [next] = transition(machine, snapshot, event)
      expect([next.value, next.context.outcome, next.context.reason]).toEqual(['stopped', outcome, reason])
    }
  })
})

describe('once interrupted', () => {
  const interrupted = active.filter(({ snapshot: { context } }) => context.interrupted)
  const ways = interrupted.flatMap(({ snapshot, exits }) =>
    exits.map(({ event, through: steps }) => ({ snapshot, event, steps })),
  )

  test('no pod is patched, and none is left half done', () => {
    expect(interrupted.length).toBeGreaterThan(100)
    // A write that was under way at the interrupt may still succeed.
    const patched = ways.filter(
      ({ snapshot, steps }) =>
        pathOf(snapshot) !== 'patching.writing' && steps.some((step) => pathOf(step) === 'patching.writing'),
    )
    expect(patched.map(({ snapshot, event }) => `${pathOf(snapshot)}: ${event.type}`)).toEqual([])
    const left = ways.filter(({ steps }) => steps.at(-1)?.context.outcome === 'interrupted')
    expect(left.map(({ snapshot, event }) => `${pathOf(snapshot)}: ${event.type}`)).toEqual([])
  })

  test('every place leads home: back as it was, or on the images that it was patched to', () => {
    const home = ended.filter(({ snapshot: { value } }) => value === 'done')
    // The world keeps changing, and no operator acts.
    const leading = reaching(home, (type) => type !== 'interrupt')
    const stranded = interrupted.filter(({ snapshot }) => !leading.has(placeOf(snapshot)))
    // Entries that mean no pod any more are left to an operator, interrupted or not.
    expect([...new Set(stranded.map(({ snapshot }) => pathOf(snapshot)))].toSorted()).toEqual([
      'settling.abandoning.pausing',
      'settling.abandoning.writing',
    ])
  })
})

test('each end says what it is and why', () => {
  const pairs = ended.map(({ snapshot: { value, context } }) => `${String(value)}: ${context.outcome}`)
  expect(ended.every(({ snapshot: { context } }) => context.reason !== undefined)).toBe(true)
  expect([...new Set(pairs)].toSorted()).toEqual([
    'done: failed',
    'done: rolledBack',
    'done: settled',
    'done: skipped',
    'done: unchanged',
    'done: upgraded',
    'failed: failed',
    'needsOperator: needsOperator',
    'stopped: conflict',
  ])
})

test('a pod is done only when its record is closed, was never opened, or its targets are settled', () => {
  const ways = active.flatMap(({ exits }) => exits.map(({ through: steps }) => steps))
  for (const steps of ways.filter((one) => one.at(-1)?.value === 'done')) {
    const { stored, gone, pod, outcome } = steps.at(-1)!.context
    const isOpen = stored.kind === 'read' && stored.journal.step !== 'closed'
    const from = steps.map((step) => pathOf(step))
    // A record that could not be closed is reported, or belongs to a pod that is gone.
    const isSettled = from.some((path) => path.startsWith('settling'))
    expect(!isOpen || isSettled || gone || pod.deleting || outcome === 'failed', `${from.join(' ')}: ${outcome}`).toBe(true)
  }
})

test('nothing is drained, patched or put back under an earlier owner’s record', () => {
  const acting = active.filter(({ snapshot }) => {
    const isEffect = activeNodes(snapshot).some(({ invoke }) => invoke.some(({ id }) => id === 'drain' || id === 'restore'))
    // The ledger settles a gone pod.
    return !snapshot.context.gone && (isEffect || ['patching.writing', 'rollingBack.writing'].includes(pathOf(snapshot)))
  })
  expect(acting.length).toBeGreaterThan(100)
  const foreign = acting.filter(({ snapshot: { context } }) => openJournal(context.stored)?.epoch !== context.epoch)
  expect([...new Set(foreign.map(({ snapshot }) => pathOf(snapshot)))]).toEqual([])
})
