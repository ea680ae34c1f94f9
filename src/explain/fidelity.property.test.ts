import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { SERVICE_NAME, SLICE_CONTROLLER, SLICE_MANAGED_BY } from '../endpoints/endpoint-labels.ts'
import type { Service } from '../endpoints/objects.ts'
import { serviceEndpoints } from '../endpoints/service-endpoints.ts'
import { service } from '../endpoints/testing/objects.ts'
import { explain } from './explain.ts'
import type { StoredEndpoints, StoredNode, StoredPod, StoredSlice } from '../endpoints/stored.ts'
import { NOT_READY, observed, pod, READY, SERVICE_WEB } from './testing/observed.ts'

/* Endpoints that the controllers make are never a difference, and each difference that is planted is reported. */

const DIFFERENCES = new Set<string>([
  'no-slice',
  'not-in-slices',
  'slice-differs',
  'slice-ports-differ',
  'stale-address',
  'endpoints-differ',
])

const pods = fc
  .uniqueArray(
    fc.record({
      ordinal: fc.nat(30),
      isReady: fc.boolean(),
      isGoing: fc.boolean(),
      isFinished: fc.boolean(),
      isSelected: fc.boolean(),
      hasPort: fc.boolean(),
      hasNode: fc.boolean(),
    }),
    { selector: ({ ordinal }) => ordinal, maxLength: 8 },
  )
  .map((some) =>
    some.map(({ ordinal, isReady, isGoing, isFinished, isSelected, hasPort, hasNode }) =>
      pod({
        name: `web-${ordinal}`,
        address: `10.0.0.${ordinal + 1}`,
        labels: { app: isSelected ? 'web' : 'job' },
        conditions: isReady ? READY : NOT_READY,
        metadata: isGoing ? { deletionTimestamp: '2026-11-29T10:10:00Z' } : {},
        spec: {
          nodeName: hasNode ? 'node-1' : 'node-7',
          containers: [{ name: 'app', ports: hasPort ? [{ name: 'http', containerPort: 8080 }] : [] }],
        },
        status: { phase: isFinished ? 'Failed' : 'Running' },
      }),
    ),
  )

const services = fc
  .record({
    publishNotReadyAddresses: fc.boolean(),
    clusterIP: fc.constantFrom('10.96.0.7', 'None'),
    targetPort: fc.constantFrom(80, 'http'),
  })
  .map(({ targetPort, ...spec }) => service({ ...spec, ports: [{ name: 'http', port: 80, protocol: 'TCP', targetPort }] }))

interface Made {
  slices: StoredSlice[]
  endpoints: StoredEndpoints
}

/** The endpoints, as the controllers store them. */
function madeOf(one: Service, some: readonly StoredPod[], nodes: readonly StoredNode[] = observed().nodes!): Made {
  const made = serviceEndpoints({ service: one, pods: some, nodes }).made!
  return {
    slices: made.slices.groups.map(({ addressType, ports, endpoints }, index) => ({
      metadata: {
        name: `web-${index}`,
        namespace: 'shop',
        labels: { [SERVICE_NAME]: 'web', [SLICE_MANAGED_BY]: SLICE_CONTROLLER },
      },
      addressType,
      ports,
      endpoints,
    })),
    endpoints: { metadata: { name: 'web', namespace: 'shop' }, subsets: made.endpoints.subsets },
  }
}

function differencesIn(one: Service, some: readonly StoredPod[], { slices, endpoints }: Made): string[] {
  const { findings } = explain(
    observed({ pods: some, about: SERVICE_WEB, services: [one], slices, endpoints: [endpoints], asked: askedOf(one, some) }),
  )
  return findings.map(({ reason }) => reason.code).filter((code) => DIFFERENCES.has(code))
}

function askedOf(one: Service, some: readonly StoredPod[]): ReadonlySet<string> {
  return new Set(
    some.filter(({ metadata }) => metadata.labels?.['app'] === one.spec.selector!['app']).map(({ metadata }) => metadata.uid),
  )
}

test('what the controllers make of any pods is no difference', () => {
  fc.assert(
    fc.property(services, pods, (one, some) => {
      expect(differencesIn(one, some, madeOf(one, some))).toEqual([])
    }),
    { numRuns: 300 },
  )
})

test('what they have made before a node went, and before pods ended that were not Ready, is no difference: they write neither', () => {
  const before = [...observed().nodes!, { metadata: { name: 'node-7' } }]
  let left = 0
  fc.assert(
    fc.property(services, pods, (one, some) => {
      // A pod that is published while it is not Ready gets requests, so its end is a difference.
      const isSilent = ({ status }: StoredPod): boolean =>
        one.spec.publishNotReadyAddresses !== true && status?.conditions === NOT_READY
      const ran = some.map((each) => (isSilent(each) ? { ...each, status: { ...each.status, phase: 'Running' } } : each))
      const made = madeOf(one, ran, before)
      if (JSON.stringify(made) !== JSON.stringify(madeOf(one, some))) left += 1
      expect(differencesIn(one, some, made)).toEqual([])
    }),
    { numRuns: 300 },
  )
  expect(left).toBeGreaterThan(30)
})

const PLANTED: Record<string, (made: Made) => Made | undefined> = {
  'slice-differs': ({ slices, endpoints }) =>
    changeFirst(slices, endpoints, (one) => ({
      ...one,
      conditions: { ...one.conditions, ready: one.conditions?.ready !== true },
    })),
  'not-in-slices': ({ slices, endpoints }) => changeFirst(slices, endpoints, () => undefined),
  'stale-address': ({ slices, endpoints }) => changeFirst(slices, endpoints, (one) => ({ ...one, addresses: ['192.0.2.1'] })),
  'no-slice': ({ endpoints }) => ({ slices: [], endpoints }),
  'slice-ports-differ': ({ slices, endpoints }) =>
    slices.some(hasEndpoints)
      ? { slices: slices.map((one) => ({ ...one, ports: [{ name: 'http', port: 9 }] })), endpoints }
      : undefined,
  'endpoints-differ': ({ slices, endpoints }) =>
    (endpoints.subsets ?? []).length > 0 ? { slices, endpoints: { ...endpoints, subsets: [] } } : undefined,
}

function hasEndpoints({ endpoints = [] }: StoredSlice): boolean {
  return endpoints.length > 0
}

type Endpoint = NonNullable<StoredSlice['endpoints']>[number]

/** Undefined where there is no endpoint to change. */
function changeFirst(
  slices: StoredSlice[],
  endpoints: StoredEndpoints,
  change: (one: Endpoint) => Endpoint | undefined,
): Made | undefined {
  const at = slices.findIndex(hasEndpoints)
  if (at === -1) return undefined
  const [first, ...rest] = slices[at]!.endpoints!
  const changed = change(first!)
  const own = changed === undefined ? rest : [changed, ...rest]
  return { slices: slices.with(at, { ...slices[at]!, endpoints: own }), endpoints }
}

test.each(Object.keys(PLANTED))('control: a planted %s is found', (code) => {
  let planted = 0
  fc.assert(
    fc.property(services, pods, (one, some) => {
      const changed = PLANTED[code]!(madeOf(one, some))
      if (changed === undefined) return
      planted += 1
      expect(differencesIn(one, some, changed)).toContain(code)
    }),
    { numRuns: 100 },
  )
  expect(planted).toBeGreaterThan(10)
})
