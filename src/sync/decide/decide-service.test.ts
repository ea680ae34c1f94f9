import { array, assert, constantFrom, nat, property, record, tuple, uniqueArray } from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { SourceView, WantedEndpoint } from '../model.ts'
import { MULTICLUSTER_SERVICE, ownSlice, SOURCE_CLUSTER, SOURCE_UID } from '../own-slice.ts'
import {
  applied,
  endpoint,
  endpoints,
  HTTP,
  known,
  NOT_READY,
  question,
  READY,
  SERVICE,
  settled,
  shown,
  synced,
} from '../testing/copies.ts'
import { decideService, type Decision, type Question } from './decide-service.ts'

type Views = [string, SourceView][]

const LISTING: SourceView = { is: 'listing' }
const UNANSWERED = { is: 'unanswered', because: { code: 'error', said: 'no route' } } as const

function ask(views: Views, options: Partial<Question> = {}): Question {
  return question({ views: new Map(views), ...options })
}

/** The slices that a former decision has made. */
function given(views: Views, options: Partial<Question> = {}) {
  return settled(ask(views, options)).slices
}

function effects({ writes }: Decision): string[] {
  return writes.map(({ effect, source, endpoints: count }) => `${effect} ${source} ${count}`)
}

describe('slices', () => {
  test('each source has slices of its own, with the labels of the conventions and the Service as their owner', () => {
    const { slices, again } = settled(
      ask(
        [
          ['east', known(endpoints(1, 1))],
          ['west', known(endpoints(2, 1))],
        ],
        { uids: new Map([['east', 'uid-of-east']]) },
      ),
    )
    expect(shown(slices)).toEqual(['east 10.1.0.0 ready', 'west 10.2.0.0 ready'])
    const [east] = slices
    expect(east!.metadata.labels).toEqual({
      'kubernetes.io/service-name': 'web',
      [MULTICLUSTER_SERVICE]: 'web',
      [SOURCE_CLUSTER]: 'east',
      'endpointslice.kubernetes.io/managed-by': 'sync.sluice.dev',
    })
    expect(east!.metadata.annotations).toEqual({ [SOURCE_UID]: 'uid-of-east' })
    expect(east!.metadata.ownerReferences).toEqual([{ apiVersion: 'v1', kind: 'Service', name: 'web', uid: 'service-uid' }])
    expect(again.writes).toEqual([])
  })

  test('a slice has at most 100 endpoints of one address type and one set of ports', () => {
    const named = [...HTTP, { name: 'admin', port: 81, protocol: 'TCP' }]
    const some = [...endpoints(1, 201), endpoint('fd00::1'), endpoint('10.9.0.1', { ports: named })]
    const { slices, again } = settled(ask([['east', known(some)]]))
    expect(slices.map(({ copies }) => copies.length).sort((a, b) => a - b)).toEqual([1, 1, 1, 100, 100])
    expect(again.writes).toEqual([])
  })

  test('an endpoint stays in its slice, and a change of one endpoint is one write', () => {
    const views: Views = [['east', known(endpoints(1, 250))]]
    const slices = given(views)
    const changed = endpoints(1, 250).map((one, index) => (index === 120 ? { ...one, conditions: NOT_READY } : one))
    const decision = decideService(ask([['east', known(changed.toReversed())]], { slices }))
    expect(effects(decision)).toEqual(['update east 100'])
    const after = applied(slices, decision)
    for (const slice of slices)
      expect(after.find(({ name }) => name === slice.name)!.copies.map(({ address }) => address)).toEqual(
        slice.copies.map(({ address }) => address),
      )
  })

  test('a new endpoint goes into the slice that is written anyway, else into the fullest with room', () => {
    const slices = given([['east', known(endpoints(1, 250))]])
    // Of 100, 100 and 50: the one that loses an endpoint takes the new one.
    const replaced = [...endpoints(1, 249, 1), ...endpoints(3, 1)]
    expect(effects(decideService(ask([['east', known(replaced)]], { slices })))).toEqual(['update east 100'])
    const more = [...endpoints(1, 250), ...endpoints(3, 2)]
    expect(effects(decideService(ask([['east', known(more)]], { slices })))).toEqual(['update east 52'])
    const many = [...endpoints(1, 250), ...endpoints(3, 60)]
    expect(effects(decideService(ask([['east', known(many)]], { slices })))).toEqual(['create east 60'])
  })

  test('a sparse slice that is written anyway is emptied into another, after that one was written', () => {
    const slices = given([['east', known(endpoints(1, 150))]])
    const [full, half] = slices.map(({ copies }) => copies.map(({ address }) => endpoint(address)))
    const first = settled(ask([['east', known([...full!.slice(0, 60), ...half!])]], { slices }))
    expect(first.slices.map(({ copies }) => copies.length)).toEqual([60, 50])
    const few = known([...full!.slice(0, 60), ...half!.slice(0, 20)])
    const { decision, slices: after } = settled(ask([['east', few]], { slices: first.slices }))
    expect(after.map(({ copies }) => copies.length)).toEqual([80])
    const [gaining, losing] = ['update', 'delete'].map((effect) => decision.writes.find((one) => one.effect === effect)!)
    expect(losing!.after).toEqual([gaining!.name])
    expect(gaining!.after).toEqual([])
  })

  test('slices that change their ports against each other do not wait for each other', () => {
    const other = [{ name: 'http', port: 81, protocol: 'TCP' }]
    const [one, two] = ['10.1.0.1', '10.1.0.2'] as const
    const slices = given([['east', known([endpoint(one), endpoint(two, { ports: other })])]])
    const { decision, again } = settled(ask([['east', known([endpoint(one, { ports: other }), endpoint(two)])]], { slices }))
    expect(effects(decision)).toEqual(['update east 1', 'update east 1'])
    expect(decision.writes.filter(({ after }) => after.length > 0)).toHaveLength(1)
    expect(again.writes).toEqual([])
  })

  test('the node and the pod are not copied; the zone and the host name are', () => {
    const { decision } = settled(ask([['east', known([endpoint('10.1.0.1', { zone: 'a', hostname: 'web-0' })])]]))
    expect(decision.writes[0]!.body).toMatchObject({
      endpoints: [{ addresses: ['10.1.0.1'], conditions: READY, zone: 'a', hostname: 'web-0' }],
    })
  })

  test('fields of other writers stay, and what they have changed of the copies is put right', () => {
    const views: Views = [['east', known(endpoints(1, 2))]]
    const [slice] = given(views)
    const edited = ownSlice({
      metadata: {
        ...slice!.metadata,
        labels: { ...slice!.metadata.labels, team: 'a', [MULTICLUSTER_SERVICE]: 'other' },
        annotations: { note: 'x' },
        finalizers: ['example.dev/hold'],
        ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'c', uid: 'c' }],
      },
      addressType: 'IPv4',
      ports: HTTP,
      endpoints: [
        { addresses: ['10.1.0.0'], conditions: READY, nodeName: 'n' },
        { addresses: ['10.1.0.1', '10.1.0.2'], conditions: { ready: false } },
        { addresses: ['10.7.0.1'], conditions: READY },
      ],
    })
    const { slices, again } = settled(ask(views, { slices: [edited] }))
    expect(shown(slices)).toEqual(['east 10.1.0.0 ready', 'east 10.1.0.1 ready'])
    expect(slices[0]!.metadata).toMatchObject({
      labels: { team: 'a', [MULTICLUSTER_SERVICE]: 'web' },
      annotations: { note: 'x' },
      finalizers: ['example.dev/hold'],
      ownerReferences: [{ kind: 'ConfigMap' }, { kind: 'Service', uid: 'service-uid' }],
    })
    expect(again.writes).toEqual([])
  })

  test('what the access cluster makes of a write by admission is not written again', () => {
    const views: Views = [['east', known(endpoints(1, 1))]]
    const slices = given(views)
    const changed = known([endpoint('10.1.0.0', { conditions: NOT_READY })])
    const asked = ask([['east', changed]], { slices, isAltered: () => true })
    expect(decideService(asked).writes).toEqual([])
    expect(decideService({ ...asked, isAltered: () => false }).writes).toHaveLength(1)
  })

  test('a name that belongs to another writer is passed over', () => {
    const views: Views = [['east', known(endpoints(1, 1))]]
    const [first] = decideService(ask(views)).writes
    const [second] = decideService(ask(views, { isTaken: (name) => name === first!.name })).writes
    expect(second!.name).not.toBe(first!.name)
    expect(second!.name).toMatch(/^web-east-[0-9a-f]{8}$/)
  })

  test('a Service that was made again gets its slices, without a gap', () => {
    const views: Views = [['east', known(endpoints(1, 2))]]
    const slices = given(views)
    const made = { is: 'present', service: { ...SERVICE, uid: 'second' } } as const
    const { decision, again } = settled(ask(views, { slices, access: made }))
    expect(effects(decision)).toEqual(['update east 2'])
    expect(again.writes).toEqual([])
  })

  test('copies of a source that the config names no longer are removed', () => {
    const slices = given([
      ['east', known(endpoints(1, 1))],
      ['west', known(endpoints(2, 1))],
    ])
    const asked = ask([['east', known(endpoints(1, 1))]], { slices, service: synced({ sources: ['east'] }) })
    expect(effects(decideService(asked))).toEqual(['delete west 0'])
  })

  test('copies of a source with a new name in the config stay until the source is known, and go after its new copies', () => {
    const slices = given([
      ['east', known(endpoints(1, 150))],
      ['west', known(endpoints(2, 1))],
    ])
    const service = synced({ sources: ['eastern', 'west'] })
    const west: Views = [['west', known(endpoints(2, 1))]]
    const unknown: SourceView[] = [
      LISTING,
      { is: 'away', sinceAt: 0, because: UNANSWERED },
      { is: 'replaced', sinceAt: 1_000_000, now: { endpoints: [] } },
    ]
    for (const view of unknown) {
      const decision = decideService(ask([['eastern', view], ...west], { slices, service }))
      expect(decision.writes).toEqual([])
      expect(decision.problems).toContainEqual({
        code: 'source-unnamed',
        source: 'east',
        slices: slices
          .filter(({ source }) => source === 'east')
          .map(({ name }) => name)
          .sort(),
        unknown: ['eastern'],
      })
    }
    const { decision, again } = settled(ask([['eastern', known(endpoints(1, 150))], ...west], { slices, service }))
    expect(effects(decision)).toEqual(['create eastern 100', 'create eastern 50', 'delete east 0', 'delete east 0'])
    const [first, second, ...removals] = decision.writes
    for (const { after } of removals) expect(after).toEqual([first!.name, second!.name])
    expect([decision.problems, again.writes]).toEqual([[], []])
  })

  test('an address that moves to another source is written there before it goes', () => {
    const shared = endpoint('10.9.0.1')
    const slices = given([['west', known([shared])]])
    const both: Views = [
      ['east', known([shared])],
      ['west', known([shared])],
    ]
    const { decision, again } = settled(ask(both, { slices }))
    expect(effects(decision)).toEqual(['create east 1', 'delete west 0'])
    expect(decision.writes[1]!.after).toEqual([decision.writes[0]!.name])
    expect(again.writes).toEqual([])
  })

  test('an address of two sources is copied from the first, and is named', () => {
    const views: Views = [
      ['east', known(endpoints(1, 2))],
      ['west', known([...endpoints(1, 1), ...endpoints(2, 1)])],
    ]
    const { slices, decision } = settled(ask(views))
    expect(shown(slices)).toEqual(['east 10.1.0.0 ready', 'east 10.1.0.1 ready', 'west 10.2.0.0 ready'])
    expect(decision.problems).toEqual([
      { code: 'addresses-twice', source: 'west', first: 'east', addresses: ['10.1.0.0'], count: 1 },
    ])
  })

  test('an endpoint in two slices of its source counts once: ready, unless it is under upgrade', () => {
    const twice = (second: Partial<WantedEndpoint>) =>
      shown(
        settled(ask([['east', known([endpoint('10.1.0.1', { conditions: NOT_READY }), endpoint('10.1.0.1', second)])]])).slices,
      )
    expect(twice({})).toEqual(['east 10.1.0.1 ready'])
    expect(twice({ conditions: NOT_READY, isUpgrading: true })).toEqual(['east 10.1.0.1 not ready'])
  })
})

describe('what is not known is not removed', () => {
  const slices = given([
    ['east', known(endpoints(1, 3))],
    ['west', known(endpoints(2, 3))],
  ])
  const west: Views = [['west', known(endpoints(2, 3))]]
  const away = (options: object = {}): Views => [
    ['east', { is: 'away', sinceAt: 1_000_000, because: UNANSWERED, ...options }],
    ...west,
  ]
  const expire = synced({ away: { is: 'expire', afterMs: 60_000, floor: 3 } })

  test('while the first list is under way', () => {
    expect(decideService(ask([['east', LISTING], ...west], { slices })).writes).toEqual([])
    expect(decideService(ask([], { slices })).writes).toEqual([])
  })

  test('an empty list that is complete removes, and so does a Service that is gone', () => {
    expect(effects(decideService(ask([['east', known([])], ...west], { slices })))).toEqual(['delete east 0'])
    const gone = decideService(ask([['east', { is: 'without', lacks: 'service' }], ...west], { slices }))
    expect(effects(gone)).toEqual(['delete east 0'])
    expect(gone.problems).toEqual([{ code: 'source-without', source: 'east', lacks: 'service' }])
  })

  test('keep: the copies of a source that is away stay, however long', () => {
    const decision = decideService(ask(away(), { slices, now: 1e9 }))
    expect(decision.writes).toEqual([])
    expect(decision.problems).toEqual([{ code: 'source-away', source: 'east', because: UNANSWERED }])
    expect(decision.nextAt).toBeUndefined()
  })

  test('expire: the copies go at the time, and not before', () => {
    const before = decideService(ask(away(), { slices, service: expire, now: 1_059_999 }))
    expect([before.writes, before.nextAt]).toEqual([[], 1_060_000])
    const at = decideService(ask(away(), { slices, service: expire, now: 1_060_000 }))
    expect(effects(at)).toEqual(['delete east 0'])
    expect(at.problems.map(({ code }) => code)).toEqual(['source-away', 'source-expired'])
  })

  test('expire: the copies stay while the sources that answer have fewer ready endpoints than the floor', () => {
    const some: Views = [
      ...away().slice(0, 1),
      ['west', known([...endpoints(2, 2), endpoint('10.2.0.2', { conditions: NOT_READY })])],
    ]
    const decision = decideService(ask(some, { slices, service: expire, now: 2_000_000 }))
    expect(effects(decision)).toEqual(['update west 3'])
    expect(decision.problems[1]).toEqual({ code: 'kept-for-floor', source: 'east', ready: 2, floor: 3 })
  })

  test('expire: where all sources are away, nothing goes', () => {
    const all: Views = ['east', 'west'].map((source) => [source, { is: 'away', sinceAt: 0, because: UNANSWERED }])
    expect(decideService(ask(all, { slices, service: expire, now: 2_000_000 })).writes).toEqual([])
  })

  test('copies that somebody deletes come back while their source is away, where this process has written them', () => {
    const left = slices.filter(({ source }) => source === 'west')
    expect(decideService(ask(away(), { slices: left })).writes).toEqual([])
    const last = { endpoints: endpoints(1, 3) }
    expect(effects(decideService(ask(away({ last }), { slices: left })))).toEqual(['create east 3'])
    // Those that have expired do not.
    const late = ask(away({ last }), { slices: left, service: expire, now: 2_000_000 })
    expect(decideService(late).writes).toEqual([])
  })

  test('a cluster that was made anew is believed once it has a ready endpoint, or after a bounded wait', () => {
    const replaced = (now: WantedEndpoint[]): Views => [
      ['east', { is: 'replaced', sinceAt: 1_000_000, now: { endpoints: now } }],
      ...west,
    ]
    const waiting = decideService(ask(replaced([]), { slices }))
    expect(waiting.writes).toEqual([])
    expect(waiting.problems).toEqual([{ code: 'source-replaced', source: 'east' }])
    expect(waiting.nextAt).toBe(1_600_000)
    expect(effects(decideService(ask(replaced([]), { slices, now: 1_600_000 })))).toEqual(['delete east 0'])
    const unready = [endpoint('10.5.0.1', { conditions: NOT_READY })]
    expect(decideService(ask(replaced(unready), { slices })).writes).toEqual([])
    expect(shown(settled(ask(replaced([endpoint('10.5.0.1')]), { slices })).slices).slice(0, 1)).toEqual(['east 10.5.0.1 ready'])
  })
})

describe('the Service in the access cluster', () => {
  const views: Views = [['east', known(endpoints(1, 2))]]
  const absent = { is: 'absent' } as const

  test('is made on request, from the first source that has it', () => {
    const made = decideService(ask(views, { access: absent, service: synced({ create: true }) }))
    expect(made).toMatchObject({
      make: { from: 'east', service: { ports: [{ name: 'http', port: 80 }] } },
      writes: [],
      problems: [],
    })
    // The first source of the config is waited for, whichever lists sooner.
    const early = ask(
      [
        ['east', LISTING],
        ['west', known(endpoints(2, 1))],
      ],
      { access: absent, service: synced({ create: true }) },
    )
    expect(decideService(early)).toEqual({ writes: [], problems: [] })
    const refused = decideService(ask(views, { access: absent }))
    expect([refused.make, refused.problems]).toEqual([undefined, [{ code: 'service-missing' }]])
  })

  test('cannot be made where no source has it, or without its namespace', () => {
    const create = { service: synced({ create: true }) }
    const without: SourceView = { is: 'without', lacks: 'service' }
    expect(decideService(ask([['east', without]], { ...create, access: absent })).problems).toContainEqual({
      code: 'service-unmade',
    })
    // A source that is being listed may have it.
    expect(decideService(ask([['east', LISTING]], { ...create, access: absent })).problems).toEqual([])
    const nowhere = decideService(ask(views, { ...create, access: { is: 'without-namespace' } }))
    expect([nowhere.make, nowhere.problems]).toEqual([undefined, [{ code: 'namespace-missing' }]])
  })

  test('is named where the ports of two sources differ', () => {
    const other = { ...known(endpoints(2, 1)), service: { ports: [{ name: 'http', port: 8080 }], isHeadless: false } }
    expect(decideService(ask([...views, ['west', other]])).problems).toEqual([
      { code: 'ports-differ', source: 'west', ports: ['http 8080/TCP'], first: 'east', firstPorts: ['http 80/TCP'] },
    ])
  })

  test('is named where its ports have other names than those of a source', () => {
    const access = { is: 'present', service: { ...SERVICE, ports: [{ name: 'web' }] } } as const
    expect(decideService(ask(views, { access })).problems).toEqual([
      { code: 'ports-unserved', source: 'east', ports: ['web'], has: ['http'] },
    ])
  })

  test('is named where it has no addresses of the family of a copy', () => {
    const both: Views = [['east', known([...endpoints(1, 1), endpoint('fd00::1'), endpoint('fd00::2')])]]
    const access = { is: 'present', service: { ...SERVICE, families: ['IPv4'] } } as const
    expect(decideService(ask(both, { access })).problems).toEqual([
      { code: 'family-unserved', source: 'east', family: 'IPv6', count: 2 },
    ])
    const dual = { is: 'present', service: { ...SERVICE, families: ['IPv6', 'IPv4'] } } as const
    expect(decideService(ask(both, { access: dual })).problems).toEqual([])
  })

  test('is not made from a Service of the type ExternalName, which is named', () => {
    const external: SourceView = { is: 'known', endpoints: [], service: { ports: [], isHeadless: false, isExternalName: true } }
    const asked = { access: absent, service: synced({ create: true }) }
    const alone = decideService(ask([['east', external]], asked))
    expect([alone.make, alone.problems]).toEqual([
      undefined,
      [{ code: 'source-external-name', source: 'east' }, { code: 'service-unmade' }],
    ])
    expect(
      decideService(
        ask(
          [
            ['east', external],
            ['west', known(endpoints(2, 1))],
          ],
          asked,
        ),
      ).make?.from,
    ).toBe('west')
  })

  test('with a selector gets no copies; copies that are there become fewer', () => {
    const access = { is: 'present', service: { ...SERVICE, selector: { app: 'web' } } } as const
    const first = decideService(ask(views, { access }))
    expect([first.writes, first.problems]).toEqual([[], [{ code: 'service-has-selector', selector: { app: 'web' } }]])
    const slices = given(views)
    const later = known([endpoint('10.1.0.1', { conditions: NOT_READY }), endpoint('10.1.0.9')])
    expect(shown(settled(ask([['east', later]], { slices, access })).slices)).toEqual(['east 10.1.0.1 not ready'])
  })

  test('with the type ExternalName, or that is being deleted, is left alone', () => {
    for (const service of [
      { ...SERVICE, type: 'ExternalName' },
      { ...SERVICE, isBeingDeleted: true },
    ])
      expect(decideService(ask(views, { access: { is: 'present', service } })).writes).toEqual([])
  })

  test('takes its slices along; those that a deletion has left behind are removed', () => {
    const slices = given(views)
    expect(decideService(ask(views, { slices, access: absent })).writes).toEqual([])
    const orphan = ownSlice({ ...bodyOf(slices[0]!), metadata: { ...slices[0]!.metadata, ownerReferences: [] } })
    expect(effects(decideService(ask(views, { slices: [orphan], access: absent })))).toEqual(['delete east 0'])
  })
})

function bodyOf({ addressType, ports }: { addressType: string; ports: readonly object[] }) {
  return { addressType, ports, endpoints: [] }
}

describe('from any slices, after any changes of the sources', () => {
  const conditions = constantFrom(READY, NOT_READY)
  const ports = constantFrom(HTTP, [{ name: 'http', port: 81, protocol: 'TCP' }])
  const one = record({ number: nat(160), conditions, ports })
  const content = uniqueArray(one, { selector: ({ number }) => number, maxLength: 160, size: 'max' })
  const wantedIn = (cluster: number, some: readonly { number: number; conditions: typeof READY; ports: typeof HTTP }[]) =>
    some.map(({ number, ...rest }) => endpoint(`10.${cluster}.0.${number}`, rest))
  /** Slices that this code would never have written: of other sizes, with addresses in two of them. */
  const prior = array(record({ source: constantFrom('east', 'west', 'former'), content }), { maxLength: 4 })

  test('the copies are exactly what the sources ask for, at most 100 a slice, and a second pass writes nothing', () => {
    assert(
      property(prior, array(tuple(content, content), { minLength: 1, maxLength: 4 }), (before, changes) => {
        let slices = before.map(({ source, content: some }, index) =>
          ownSlice({
            metadata: {
              name: `web-${index}`,
              namespace: 'shop',
              uid: `prior-${index}`,
              resourceVersion: '1',
              labels: { 'kubernetes.io/service-name': 'web', [SOURCE_CLUSTER]: source },
            },
            addressType: 'IPv4',
            ports: HTTP,
            endpoints: wantedIn(source === 'west' ? 2 : 1, some).map(({ address, conditions: held }) => ({
              addresses: [address],
              conditions: held,
            })),
          }),
        )
        for (const [east, west] of changes) {
          const [inEast, inWest] = [wantedIn(1, east), wantedIn(2, west)]
          const views: Views = [
            ['east', known(inEast)],
            ['west', known(inWest)],
          ]
          const result = settled(ask(views, { slices }))
          slices = result.slices
          const expected = [
            ...inEast.map((wanted) => ({ source: 'east', wanted })),
            ...inWest.map((wanted) => ({ source: 'west', wanted })),
          ]
          const found = slices.flatMap(({ source, copies, ports: of }) =>
            copies.map(({ address, conditions: held }) => JSON.stringify([source, address, of[0]!.port, held])),
          )
          expect(found.toSorted()).toEqual(
            expected
              .map(({ source, wanted }) => JSON.stringify([source, wanted.address, wanted.ports[0]!.port, wanted.conditions]))
              .sort(),
          )
          for (const { copies } of slices) expect(copies.length).toBeLessThanOrEqual(100)
          expect(result.again.writes).toEqual([])
          // Each write waits only for others of the same decision, and never in a circle.
          const done = new Set<string>()
          const waiting = new Set(result.decision.writes)
          while (waiting.size > 0) {
            const next = [...waiting].filter(({ after }) => after.every((name) => done.has(name)))
            expect(next).not.toEqual([])
            for (const write of next) {
              done.add(write.name)
              waiting.delete(write)
            }
          }
        }
      }),
      { numRuns: 150 },
    )
  })
})
