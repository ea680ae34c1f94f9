import { describe, expect, test } from 'vitest'
import { applyPatch } from '../../journal/testing/json-patch.ts'
import type { EntryState } from '../cluster/cluster-view.ts'
import type { RuleSet } from '../rules/rule-set.ts'
import { ObjectError } from './object-error.ts'
import {
  address,
  before,
  condition,
  decided,
  endpoint,
  endpointsOf,
  node,
  NOW,
  pod,
  rules,
  service,
  slice,
} from './testing/world.ts'
import { decide } from './decide.ts'

const FIRST = `  - {name: first, when: 'pod.metadata.name == "web-1"', effect: EFFECT}`
const rule = (effect: string): string => FIRST.replace('EFFECT', effect)
const READY = { ready: true, serving: true, terminating: false }
const NOT_READY = { ready: false, serving: false, terminating: false }

/** The conditions by address, after the patch as the API server applies it. */
function stored(object: object, answer: ReturnType<typeof decided>): unknown {
  const patched = applyPatch(object, [...answer.patch])
  expect(patched).toEqual(answer.object)
  return patched
}

describe('an effect on an EndpointSlice', () => {
  test.each([
    ['notReady', { ready: false, serving: false }],
    ['serving', { ready: false, serving: true }],
  ])('%s changes the conditions of the one endpoint', (effect, conditions) => {
    const object = slice([endpoint(1, READY), endpoint(2, READY)])
    const answer = decided(rule(effect), object)
    expect(stored(object, answer)).toEqual(slice([endpoint(1, { ...READY, ...conditions }), endpoint(2, READY)]))
    expect(answer.decision).toMatchObject({ kind: 'EndpointSlice', namespace: 'shop', name: 'web-1', service: 'web', total: 2 })
    expect(answer.decision.endpoints).toEqual([
      {
        addresses: ['10.0.0.1'],
        pod: { namespace: 'shop', name: 'web-1', uid: 'uid-of-web-1' },
        wished: { ready: true, serving: true },
        as: conditions,
        rule: 'first',
        effect,
        failed: [],
      },
    ])
  })

  test('ready makes an endpoint ready and serving', () => {
    const object = slice([endpoint(1, NOT_READY)])
    expect(stored(object, decided(rule('ready'), object))).toEqual(slice([endpoint(1, READY)]))
  })

  test('remove leaves out the endpoint, and no endpoint may be left', () => {
    const object = slice([endpoint(1, READY), endpoint(2, READY), endpoint(1, READY, { addresses: ['10.0.1.1'] })])
    const answer = decided(rule('remove'), object)
    expect(answer.patch).toEqual([
      { op: 'remove', path: '/endpoints/2' },
      { op: 'remove', path: '/endpoints/0' },
    ])
    expect(stored(object, answer)).toEqual(slice([endpoint(2, READY)]))
    const only = slice([endpoint(1, READY)])
    expect(stored(only, decided(rule('remove'), only))).toEqual(slice([]))
  })

  test('remove leaves an endpoint of the EndpointSlice controller neither ready nor serving, since it would make another slice', () => {
    const labels = {
      'kubernetes.io/service-name': 'web',
      'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
    }
    const made = (...endpoints: object[]): object => slice(endpoints, { metadata: { name: 'web-1', namespace: 'shop', labels } })
    const object = made(endpoint(1, READY), endpoint(2, READY))
    const answer = decided(rule('remove'), object)
    expect(stored(object, answer)).toEqual(made(endpoint(1, NOT_READY), endpoint(2, READY)))
    expect(answer.decision.endpoints).toMatchObject([{ effect: 'remove', as: { ready: false, serving: false } }])
  })

  test('a new object whose name the API server makes is decided as any other', () => {
    const { name: _, ...metadata } = (slice([]) as { metadata: { name: string } }).metadata
    const object = slice([endpoint(1, NOT_READY)], { metadata: { ...metadata, generateName: 'web-' } })
    const answer = decided(rule('ready'), object)
    expect(answer.patch).not.toEqual([])
    expect(answer.decision).toMatchObject({ name: 'web-', namespace: 'shop', service: 'web' })
  })

  test('missing conditions mean ready and serving', () => {
    const object = slice([endpoint(1)])
    expect(decided(rule('ready'), object).patch).toEqual([])
    expect(stored(object, decided(rule('notReady'), object))).toEqual(slice([endpoint(1, { ready: false, serving: false })]))
    const bare = slice([endpoint(1, { terminating: true })])
    expect(stored(bare, decided(rule('serving'), bare))).toEqual(
      slice([endpoint(1, { ready: false, serving: true, terminating: true })]),
    )
  })

  test('a slice without endpoints, or without a Service, is decided about too', () => {
    expect(decided(rule('ready'), slice(undefined))).toMatchObject({ patch: [], decision: { total: 0, endpoints: [] } })
    const own = slice([endpoint(1, READY)], { metadata: { name: 'own', namespace: 'shop' } })
    const answer = decided('  - {name: x, when: "!exists(service)", effect: notReady}', own)
    expect(answer.decision).not.toHaveProperty('service')
    expect(answer.patch).toHaveLength(2)
  })
})

describe('an effect on Endpoints', () => {
  const PORTS = [{ name: 'http', port: 8080, protocol: 'TCP' }]

  test('moves the address to the other list, sorted as the API server sorts', () => {
    const object = endpointsOf([{ addresses: [address(1), address(2)], notReadyAddresses: [address(0)], ports: PORTS }])
    const answer = decided(rule('notReady'), object)
    expect(stored(object, answer)).toEqual(
      endpointsOf([{ addresses: [address(2)], notReadyAddresses: [address(0), address(1)], ports: PORTS }]),
    )
    expect(answer.decision.total).toBe(3)
  })

  test('serving is not ready, since Endpoints have no such state', () => {
    const object = endpointsOf([{ addresses: [address(1)], ports: PORTS }])
    const answer = decided(rule('serving'), object)
    expect(stored(object, answer)).toEqual(endpointsOf([{ notReadyAddresses: [address(1)], ports: PORTS }]))
    expect(answer.decision.endpoints[0]!.as).toEqual({ ready: false, serving: false })
  })

  test('the last address takes its subset with it', () => {
    const object = endpointsOf([{ addresses: [address(1)], ports: PORTS }])
    expect(stored(object, decided(rule('remove'), object))).toEqual(endpointsOf([]))
  })

  test('an address under two sets of ports is decided about once, and subsets that become equal are one', () => {
    const other = [{ name: 'metrics', port: 9090, protocol: 'TCP' }]
    const object = endpointsOf([
      { addresses: [address(1), address(2)], ports: PORTS },
      { addresses: [address(2)], notReadyAddresses: [address(1)], ports: other },
    ])
    const answer = decided(rule('remove'), object)
    expect(stored(object, answer)).toEqual(endpointsOf([{ addresses: [address(2)], ports: [...PORTS, ...other] }]))
    const ready = decided(rule('ready'), object)
    expect(stored(object, ready)).toEqual(endpointsOf([{ addresses: [address(1), address(2)], ports: [...PORTS, ...other] }]))
    expect(ready.decision.endpoints.map(({ wished }) => wished.ready)).toEqual([true, false])
    expect(
      decided(
        rule('notReady'),
        endpointsOf([
          { addresses: [address(1)], ports: PORTS },
          { addresses: [address(1)], ports: other },
        ]),
      ).decision.endpoints,
    ).toHaveLength(1)
  })

  test('a headless Service has a subset without ports, hostnames are kept, and subsets may be missing', () => {
    const object = endpointsOf([{ addresses: [address(1, { hostname: 'web-1' })] }])
    expect(stored(object, decided(rule('notReady'), object))).toEqual(
      endpointsOf([{ notReadyAddresses: [address(1, { hostname: 'web-1' })] }]),
    )
    const { subsets: _none, ...bare } = endpointsOf([]) as Record<string, unknown>
    expect(decide({ rules: rules(rule('ready')), kind: 'Endpoints', object: bare, cluster: nothing, nowAt: NOW }).patch).toEqual(
      [],
    )
  })
})

const nothing = {
  pod: () => undefined,
  node: () => undefined,
  service: () => undefined,
  podsOf: () => ({ all: 0, ready: 0 }),
  previousOf: () => undefined,
  stateBefore: () => undefined,
}

describe('the rule that decides', () => {
  test('is the first one that applies', () => {
    const list = [
      '  - {name: never, when: "false", effect: remove}',
      rule('serving'),
      '  - {name: all, when: "true", effect: notReady}',
    ].join('\n')
    const answer = decided(list, slice([endpoint(1, READY), endpoint(2, READY)]))
    expect(answer.decision.endpoints.map((one) => [one.rule, one.as])).toEqual([
      ['first', { ready: false, serving: true }],
      ['all', { ready: false, serving: false }],
    ])
  })

  test('is none that fails: a failure is told, and the wish stands', () => {
    const object = slice([endpoint(1, READY), { addresses: ['10.9.9.9'] }])
    const answer = decided('  - {name: x, when: \'pod.metadata.name == "web-9"\', effect: remove}', object)
    expect(answer.patch).toEqual([])
    expect(answer.decision.endpoints).toEqual([
      {
        addresses: ['10.9.9.9'],
        wished: { ready: true, serving: true },
        as: { ready: true, serving: true },
        failed: [{ rule: 'x', code: 'failed', problem: 'pod.metadata is not there' }],
      },
    ])
  })

  test('changes nothing in mode audit, and is told', () => {
    const object = slice([endpoint(1, READY)])
    const audit: RuleSet = rules(rule('remove'), 'audit')
    const answer = decided(audit, object)
    expect(answer.object).toBe(object)
    expect(answer.patch).toEqual([])
    expect(answer.decision).toMatchObject({ mode: 'audit', endpoints: [{ rule: 'first', as: 'removed' }] })
  })

  test('is not asked where the pod is not seen yet, and the decision counts it', () => {
    const answer = decided(
      '  - {name: x, when: "exists(pod)", effect: notReady}',
      slice([endpoint(1, READY), endpoint(7, READY)]),
    )
    expect(answer.decision).toMatchObject({ unseenPods: 1, endpoints: [{ rule: 'x' }] })
    expect(answer.decision.endpoints).toHaveLength(1)
  })
})

describe('keepPrevious', () => {
  const KEEP = `  - name: keep
    when: 'condition(pod, "Ready").status == "False"'
    effect: keepPrevious
    since: condition(pod, "Ready").lastTransitionTime
    for: 2m`
  const lost = (ms: number, more: object = {}): object =>
    pod(1, { ...more, status: { conditions: [condition('Ready', 'False', { lastTransitionTime: before(ms) })] } })
  const wish = slice([endpoint(1, NOT_READY)])
  const was = slice([endpoint(1, READY)])

  test('keeps what the stored object has until the time is over, to the millisecond', () => {
    const objects = [lost(60_000), service, node]
    const answer = decided(KEEP, wish, { objects, old: was })
    expect(stored(wish, answer)).toEqual(was)
    expect(answer.equalsOld).toBe(true)
    expect(answer.decision).toMatchObject({ againAt: NOW + 60_000, endpoints: [{ rule: 'keep', until: NOW + 60_000 }] })
    expect(decided(KEEP, wish, { objects, old: was, nowAt: NOW + 59_999 }).patch).toHaveLength(2)
    const after = decided(KEEP, wish, { objects, old: was, nowAt: NOW + 60_000 })
    expect(after).toMatchObject({ patch: [], decision: { endpoints: [] } })
    expect(after.decision).not.toHaveProperty('againAt')
  })

  test('finds the pod at another address, or in another object of the Service', () => {
    const objects = [lost(60_000), service, node]
    const moved = slice([endpoint(1, READY, { addresses: ['10.0.9.9'] })])
    expect(decided(KEEP, wish, { objects, old: moved }).patch).toHaveLength(2)
    const previous = { 'uid-of-web-1': { ready: true, serving: true } }
    expect(decided(KEEP, wish, { objects, previous }).patch).toHaveLength(2)
    expect(decided(KEEP, wish, { objects, old: slice([]) }).decision.endpoints).toEqual([])
  })

  test('takes nothing from another pod that had the address', () => {
    const other = slice([endpoint(1, READY, { targetRef: { kind: 'Pod', name: 'web-1', uid: 'uid-of-another' } })])
    expect(decided(KEEP, wish, { objects: [lost(60_000), service, node], old: other }).patch).toEqual([])
  })

  test('keeps the state from before `since`, although a decision by a stale view has stored another one since then', () => {
    const changedAt = NOW - 59_900
    const stateBefore = (_uid: string, at: number): EntryState => ({ ready: at <= changedAt, serving: at <= changedAt })
    const objects = [lost(60_000), service, node]
    expect(stored(wish, decided(KEEP, wish, { objects, old: wish, stateBefore }))).toEqual(was)
    // Without a history, the stored state is all that there is.
    expect(decided(KEEP, wish, { objects, old: wish }).patch).toEqual([])
    // The time does not begin anew.
    expect(decided(KEEP, wish, { objects, old: wish, stateBefore, nowAt: NOW + 60_000 }).patch).toEqual([])
    // Nothing is kept of a pod that was in no object then.
    const absent = (): 'absent' => 'absent'
    expect(decided(KEEP, wish, { objects, old: was, stateBefore: absent })).toMatchObject({
      patch: [],
      decision: { endpoints: [] },
    })
    // A pod that was not ready before keeps that state.
    const never = (): EntryState => ({ ready: false, serving: false })
    expect(decided(KEEP, wish, { objects, old: was, stateBefore: never }).patch).toEqual([])
  })

  test('keeps nothing for a pod that is being deleted, that is terminating, or that is not seen', () => {
    const leaving = lost(60_000, {
      metadata: { uid: 'uid-of-web-1', name: 'web-1', namespace: 'shop', deletionTimestamp: before(0) },
    })
    expect(decided(KEEP, wish, { objects: [leaving, service, node], old: was }).patch).toEqual([])
    const terminating = slice([endpoint(1, { ...NOT_READY, terminating: true })])
    expect(decided(KEEP, terminating, { objects: [lost(60_000), service, node], old: was }).patch).toEqual([])
    const always = KEEP.replace(/when: .*/, 'when: "true"').replace(/since: .*/, `since: 'timestamp("${before(0)}")'`)
    expect(decided(always, wish, { objects: [service, node], old: was }).patch).toEqual([])
    // Control.
    expect(decided(always, wish, { objects: [lost(60_000), service, node], old: was }).patch).toHaveLength(2)
  })

  test('keeps nothing where `since` lies in the future beyond a small skew, and looks again then', () => {
    const ahead = decided(KEEP, wish, { objects: [lost(-60_000), service, node], old: was })
    expect(ahead).toMatchObject({ patch: [], decision: { againAt: NOW + 55_000 } })
    expect(decided(KEEP, wish, { objects: [lost(-4_000), service, node], old: was }).patch).toHaveLength(2)
  })

  test('leaves the decision to the next rule where nothing is kept', () => {
    const list = `${KEEP}\n${rule('serving')}`
    const answer = decided(list, wish, { objects: [lost(300_000), service, node], old: was })
    expect(answer.decision.endpoints).toMatchObject([{ rule: 'first', as: { ready: false, serving: true } }])
  })

  test('keeps an address of Endpoints, and one without a pod', () => {
    const objects = [lost(60_000), service, node]
    const [now, old] = [endpointsOf([{ notReadyAddresses: [address(1)] }]), endpointsOf([{ addresses: [address(1)] }])]
    expect(decided(KEEP, now, { objects, old }).object).toEqual(old)
    const since = `'timestamp("${before(0)}")'`
    const list = `  - {name: x, when: "!exists(pod)", effect: keepPrevious, since: ${since}, for: 1m}`
    const bare = { addresses: ['10.9.9.9'] }
    const answer = decided(list, slice([{ ...bare, conditions: NOT_READY }]), { old: slice([{ ...bare, conditions: READY }]) })
    expect(answer.object).toEqual(slice([{ ...bare, conditions: READY }]))
  })
})

describe('an object', () => {
  test.each([
    ['EndpointSlice', { ...slice([]), kind: 'Endpoints' }, 'kind'],
    ['EndpointSlice', null, ''],
    ['EndpointSlice', [], ''],
    ['EndpointSlice', slice([{ addresses: 'x' }]), 'endpoints.0.addresses'],
    ['EndpointSlice', { ...slice([]), metadata: { name: 'x' } }, 'metadata.namespace'],
    ['Endpoints', endpointsOf([{ addresses: [{ ip: 3 }] }]), 'subsets.0.addresses.0.ip'],
  ] as const)('that is no %s is an error that names the field', (kind, object, field) => {
    const ask = (): unknown => decide({ rules: rules(rule('ready')), kind, object, cluster: nothing, nowAt: NOW })
    expect(ask).toThrowError(expect.objectContaining({ name: 'ObjectError', field }))
    expect(ask).toThrow(ObjectError)
  })

  test('is never changed in place', () => {
    const object = slice([endpoint(1, READY), endpoint(2, READY)])
    const copy = structuredClone(object)
    decided(rule('remove'), object)
    decided(rule('notReady'), object)
    expect(object).toEqual(copy)
  })

  test('has the content of the stored one whatever the server adds', () => {
    const old = slice([endpoint(1, READY)], {
      metadata: {
        ...(slice([]) as { metadata: object }).metadata,
        resourceVersion: '7',
        generation: 3,
        managedFields: [{ manager: 'x' }],
      },
    })
    expect(decided('  []', slice([endpoint(1, READY)]), { old }).equalsOld).toBe(true)
    expect(decided('  []', slice([endpoint(1, NOT_READY)]), { old }).equalsOld).toBe(false)
    expect(decided('  []', slice([endpoint(1, READY)])).equalsOld).toBe(false)
  })

  test('has the content of stored Endpoints whose subsets the server has sorted', () => {
    const metadata = { name: 'web', namespace: 'shop' }
    const subset = (port: number, ...ips: string[]): object => ({ addresses: ips.map((ip) => ({ ip })), ports: [{ port }] })
    const made = (...subsets: object[]): object => ({ apiVersion: 'v1', kind: 'Endpoints', metadata, subsets })
    const wished = made(subset(80, '10.0.0.1', '10.0.0.2'), subset(81, '10.0.0.3'))
    const same = made(
      { ports: [{ port: 81 }], notReadyAddresses: null, addresses: [{ ip: '10.0.0.3' }] },
      subset(80, '10.0.0.2', '10.0.0.1'),
    )
    expect(decided('  []', wished, { old: same }).equalsOld).toBe(true)
    expect(decided('  []', wished, { old: made(subset(80, '10.0.0.1'), subset(81, '10.0.0.3')) }).equalsOld).toBe(false)
  })
})
