import { expect, test } from 'vitest'
import { podUpgradeMachine } from './index.ts'
import { reasons } from './reasons.ts'

/* Every guard, action and reason of the setup is used by a state, and every one in a state is in the setup. */

interface Used {
  guards: Set<string>
  actions: Set<string>
  delays: Set<string>
  actors: Set<string>
  reasons: Set<string>
}

const used: Used = { guards: new Set(), actions: new Set(), delays: new Set(), actors: new Set(), reasons: new Set() }

function list(value: unknown): unknown[] {
  return value === undefined ? [] : Array.isArray(value) ? value : [value]
}

function action(one: unknown): void {
  if (typeof one === 'string') used.actions.add(one)
  const { type, params } = one as { type?: string; params?: { reason?: string } }
  if (type) used.actions.add(type)
  if (params?.reason) used.reasons.add(params.reason)
}

/** `and`, `or` and `not` keep the guards that they join. */
function guard(one: unknown): void {
  if (typeof one === 'string') used.guards.add(one)
  const { guards } = one as { guards?: unknown[] }
  for (const inner of list(guards)) guard(inner)
}

function transitions(config: unknown): void {
  for (const one of list(config)) {
    const { guard: by, actions } = one as { guard?: unknown; actions?: unknown }
    if (by !== undefined) guard(by)
    for (const inner of list(actions)) action(inner)
  }
}

function state(config: Record<string, unknown>): void {
  for (const one of list(config['entry'])) action(one)
  transitions(config['always'])
  for (const one of Object.values((config['on'] ?? {}) as object)) transitions(one)
  for (const [delay, one] of Object.entries((config['after'] ?? {}) as object)) {
    used.delays.add(delay)
    transitions(one)
  }
  for (const one of list(config['invoke']) as { src: string; onDone: unknown; onError: unknown }[]) {
    used.actors.add(one.src)
    transitions(one.onDone)
    transitions(one.onError)
  }
  for (const one of Object.values((config['states'] ?? {}) as Record<string, Record<string, unknown>>)) state(one)
}

state(podUpgradeMachine.config as unknown as Record<string, unknown>)

test.each(['guards', 'actions', 'delays', 'actors'] as const)('%s', (kind) => {
  expect([...used[kind]].toSorted()).toEqual(Object.keys(podUpgradeMachine.implementations[kind]).toSorted())
})

test('reasons', () => {
  // No state names `bug`.
  expect([...used.reasons, 'bug'].toSorted()).toEqual(Object.keys(reasons).toSorted())
})
