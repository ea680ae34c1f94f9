import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { StoredEndpoints, StoredSlice } from '../../endpoints/stored.ts'
import { type ClusterChange, createClusterIndex } from '../cluster/cluster-index.ts'
import type { EndpointsKind, EntryState } from '../cluster/cluster-view.ts'
import { keptEndpoints, keptPod, keptService, keptSlice } from '../cluster/kept-fields.ts'
import { decide } from './decide.ts'
import { address, condition, endpoint, endpointsOf, NOW, pod, rules, service, slice } from './testing/world.ts'

/* Views that are late: of the pods, of the objects, and of one replica more than of the other. */

const READY = { ready: true, serving: true }
const LATE = rules('  - {use: late-heartbeat, with: {within: 5m, floor: "50%"}}')

/** A pod whose node is silent since an instant, or that is ready. */
function podOf(index: number, silentAt?: number, isLeaving = false): object {
  const at = (ms: number): string => new Date(Math.floor(ms / 1_000) * 1_000).toISOString().replace('.000Z', 'Z')
  const ready =
    silentAt === undefined ? condition('Ready', 'True') : condition('Ready', 'False', { lastTransitionTime: at(silentAt) })
  const raw = pod(index, { status: { conditions: [condition('ContainersReady', 'True'), ready] } }) as { metadata: object }
  return isLeaving ? { ...raw, metadata: { ...raw.metadata, deletionTimestamp: at(NOW) } } : raw
}

/** The object as the API server stores it: with the time of the write, in seconds. */
function written<T extends object>(object: T, at: number): T {
  const time = new Date(Math.floor(at / 1_000) * 1_000).toISOString().replace('.000Z', 'Z')
  return { ...object, metadata: { ...(object as { metadata?: object }).metadata, managedFields: [{ manager: 'm', time }] } }
}

test.each([0, 2])(
  'four pods of a silent node keep their places, although the first decision has seen %i of them become not ready',
  (seen) => {
    const indexes = [1, 2, 3, 4]
    const cluster = createClusterIndex()
    const put = (change: ClusterChange): unknown => cluster.apply(change, NOW)
    const stored = (object: unknown, at: number): void =>
      void put({ kind: 'EndpointSlice', is: 'put', object: keptSlice(written(object as object, at)) })
    const before = slice(indexes.map((index) => endpoint(index, READY)))
    const wish = slice(indexes.map((index) => endpoint(index, { ready: false, serving: false })))
    put({ kind: 'Service', is: 'put', object: keptService(service) })
    for (const index of indexes) put({ kind: 'Pod', is: 'put', object: keptPod(podOf(index, index <= seen ? NOW : undefined)) })
    stored(before, NOW - 3_600_000)

    // Half of the pods are ready, as far as this view knows.
    const late = decide({ rules: LATE, kind: 'EndpointSlice', object: wish, old: before, cluster, nowAt: NOW + 900 })
    expect(late.object).toEqual(wish)
    stored(late.object, NOW + 900)

    for (const index of indexes) put({ kind: 'Pod', is: 'put', object: keptPod(podOf(index, NOW)) })
    const again = decide({ rules: LATE, kind: 'EndpointSlice', object: wish, old: late.object, cluster, nowAt: NOW + 6_000 })
    expect(again.object).toEqual(before)
  },
)

const FOR_MS = 20_000
const KEEP = rules(`  - name: keep
    when: 'condition(pod, "Ready").status == "False"'
    effect: keepPrevious
    since: condition(pod, "Ready").lastTransitionTime
    for: ${FOR_MS}ms`)
const KINDS: EndpointsKind[] = ['EndpointSlice', 'Endpoints']
const PODS = [1, 2, 3]

interface Step {
  afterMs: number
  index: number
  does: 'falls-silent' | 'reports' | 'is-deleted' | 'goes' | 'nothing'
  /** The replica that decides about the write that follows. Without one, the webhook fails open. */
  by: 'a' | 'b' | undefined
}
interface Delays {
  pods: number
  objects: number
}

const step: fc.Arbitrary<Step> = fc.record({
  afterMs: fc.integer({ min: 0, max: 6_000 }),
  index: fc.constantFrom(...PODS),
  does: fc.constantFrom('falls-silent', 'falls-silent', 'reports', 'is-deleted', 'goes', 'nothing'),
  by: fc.constantFrom('a', 'b', 'b', undefined),
})
const delays: fc.Arbitrary<Delays> = fc.record({
  pods: fc.integer({ min: 0, max: 9_000 }),
  objects: fc.integer({ min: 0, max: 9_000 }),
})

/** A replica, whose view gets each change some time later. */
function replicaOf(late: Delays) {
  const cluster = createClusterIndex()
  const queues = { pods: [] as [number, ClusterChange][], objects: [] as [number, ClusterChange][] }
  return {
    cluster,
    tell(change: ClusterChange, at: number): void {
      const queue = change.kind === 'Pod' ? 'pods' : 'objects'
      queues[queue].push([at + late[queue], change])
    },
    see(until: number): void {
      const due = [...queues.pods, ...queues.objects].filter(([at]) => at <= until).toSorted(([a], [b]) => a - b)
      for (const [at, change] of due) cluster.apply(change, at)
      for (const name of ['pods', 'objects'] as const) queues[name] = queues[name].filter(([at]) => at > until)
    },
  }
}

interface Version {
  /** In whole seconds. */
  at: number
  states: Map<string, EntryState>
}

interface TruePod {
  silentAt?: number
  isLeaving?: true
}

function stateOf(kind: EndpointsKind, { silentAt, isLeaving }: TruePod): EntryState | undefined {
  if (kind === 'Endpoints' && isLeaving) return undefined
  const serving = silentAt === undefined
  return { ready: serving && !isLeaving, serving }
}

function objectOf(kind: EndpointsKind, pods: ReadonlyMap<number, TruePod>): object {
  const some = [...pods].flatMap(([index, one]) => {
    const state = stateOf(kind, one)
    return state === undefined ? [] : [{ index, state, terminating: one.isLeaving === true }]
  })
  if (kind === 'EndpointSlice')
    return slice(some.map(({ index, state, terminating }) => endpoint(index, { ...state, terminating })))
  const of = (ready: boolean): object[] => some.filter(({ state }) => state.ready === ready).map(({ index }) => address(index))
  const [addresses, notReadyAddresses] = [of(true), of(false)]
  return endpointsOf(some.length === 0 ? [] : [{ addresses, notReadyAddresses }])
}

/** The states by the UID of the pod. */
function statesIn(kind: EndpointsKind, object: unknown): Map<string, EntryState> {
  if (kind === 'EndpointSlice') {
    const { endpoints = [] } = object as StoredSlice
    return new Map(
      endpoints.map(({ targetRef, conditions }) => [
        targetRef!.uid!,
        { ready: conditions!.ready!, serving: conditions!.serving! },
      ]),
    )
  }
  const { subsets = [] } = object as StoredEndpoints
  return new Map(
    subsets.flatMap(({ addresses = [], notReadyAddresses = [] }) => [
      ...addresses.map(({ targetRef }) => [targetRef!.uid!, READY] as const),
      ...notReadyAddresses.map(({ targetRef }) => [targetRef!.uid!, { ready: false, serving: false }] as const),
    ]),
  )
}

/** The state of the last write before `since`, which is a second. A write in that second that led to the wish is a consequence. */
function stateBefore(versions: readonly Version[], uid: string, since: number, wish: EntryState): EntryState | undefined {
  const turns = versions
    .map(({ at, states }) => ({ at, state: states.get(uid) }))
    .filter(({ state }, order, all) => order === 0 || JSON.stringify(state) !== JSON.stringify(all[order - 1]!.state))
  const last = Math.max(
    0,
    turns.findLastIndex(({ at }) => at <= since),
  )
  const isConsequence = last > 0 && turns[last]!.at === since && JSON.stringify(turns[last]!.state) === JSON.stringify(wish)
  return turns[isConsequence ? last - 1 : last]!.state
}

const uidOf = (index: number): string => `uid-of-web-${index}`

test.each(KINDS)(
  'replicas whose views of %s are late by different times come to the same end: the state before `since`, never for longer than `for`, never for a pod that is deleted',
  (kind) => {
    let [kept, healed] = [0, 0]
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 7 }), delays, delays, (steps, a, b) => {
        const replicas = { a: replicaOf(a), b: replicaOf(b) }
        const pods = new Map<number, TruePod>(PODS.map((index) => [index, {}]))
        let nowAt = NOW
        let stored: object | undefined
        const versions: Version[] = []
        const tell = (change: ClusterChange): void => Object.values(replicas).forEach((one) => one.tell(change, nowAt))
        const tellPod = (index: number): void => {
          const { silentAt, isLeaving } = pods.get(index) ?? {}
          const object = keptPod(podOf(index, silentAt, isLeaving))
          tell({ kind: 'Pod', is: pods.has(index) ? 'put' : 'gone', object })
        }

        function decided(by: 'a' | 'b') {
          const { cluster, see } = replicas[by]
          see(nowAt)
          const object = objectOf(kind, pods)
          const answer = decide({ rules: KEEP, kind, object, ...(stored && { old: stored }), cluster, nowAt })
          for (const { rule, pod: of, until } of answer.decision.endpoints) {
            if (rule === undefined) continue
            const seen = cluster.pod(of!.uid)!
            expect(seen.metadata.deletionTimestamp).toBeUndefined()
            const since = Date.parse(seen.status!.conditions!.find(({ type }) => type === 'Ready')!.lastTransitionTime!)
            expect([until, nowAt < since + FOR_MS]).toEqual([since + FOR_MS, true])
          }
          return answer
        }

        function write(by: 'a' | 'b' | undefined): void {
          const object = written((by === undefined ? objectOf(kind, pods) : decided(by).object) as object, nowAt)
          stored = object
          versions.push({ at: Math.floor(nowAt / 1_000) * 1_000, states: statesIn(kind, object) })
          if (kind === 'EndpointSlice') tell({ kind, is: 'put', object: keptSlice(object) })
          else tell({ kind, is: 'put', object: keptEndpoints(object) })
        }

        tell({ kind: 'Service', is: 'put', object: keptService(service) })
        for (const index of PODS) tellPod(index)
        write(undefined)
        for (const { afterMs, index, does, by } of steps) {
          nowAt += afterMs
          const own = pods.get(index)
          if (own !== undefined && does !== 'nothing') {
            const { silentAt: _, ...reporting } = own
            if (does === 'falls-silent') pods.set(index, { ...own, silentAt: own.silentAt ?? nowAt })
            if (does === 'reports') pods.set(index, reporting)
            if (does === 'is-deleted') pods.set(index, { ...own, isLeaving: true })
            if (does === 'goes') pods.delete(index)
            tellPod(index)
          }
          write(by)
        }

        // Both have seen all.
        nowAt += 9_000
        const [one, other] = [decided('a').object, decided('b').object]
        expect(one).toEqual(other)
        const [states, now] = [statesIn(kind, one), versions.at(-1)!.states]
        for (const [index, own] of pods) {
          const wish = stateOf(kind, own)
          const since = Math.floor((own.silentAt ?? Infinity) / 1_000) * 1_000
          const isKept = !own.isLeaving && nowAt < since + FOR_MS && own.silentAt !== undefined
          const expected = isKept ? (stateBefore(versions, uidOf(index), since, wish!) ?? wish) : wish
          expect(states.get(uidOf(index)), `web-${index}`).toEqual(expected)
          if (isKept) kept += 1
          if (isKept && now.get(uidOf(index))?.ready === false && expected?.ready === true) healed += 1
        }
      }),
      { numRuns: 300 },
    )
    expect([kept > 50, healed > 10]).toEqual([true, true])
  },
)
