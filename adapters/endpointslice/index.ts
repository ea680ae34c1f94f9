/** A Service without a selector, through its EndpointSlices: a drain sets `conditions.ready: false` on the endpoint. */
import { parseAddress } from '../address.ts'
import { AdapterError, type EffectResult } from '../contract.ts'
import { type ChangeCall, type ChangeResults, defineAdapter, type Entry, resultKey } from '../define-adapter.ts'
import { durationMs } from '../option-fields.ts'
import { createSliceApi } from './api.ts'
import { createCluster } from './cluster.ts'
import { endpointsliceOptions } from './options.ts'
import { changedSlice, drained, type Place, type PlaceChange, placesOf, priorOf, restored, stateOf } from './places.ts'
import { absenceProblem, type Problem, type Slice, serviceProblem, sliceProblem } from './slices.ts'

/** The maximum number of targets in one call. The endpoint slice controller puts this number into one slice. */
const BATCH_MAX = 100
const SETTLE_DEFAULT = '10s'

interface Change {
  entry: Entry
  places: PlaceChange[]
}

export const endpointslice = defineAdapter({
  name: 'endpointslice',
  summary: 'A Service of Kubernetes without a selector, of this or another cluster, through its EndpointSlices.',
  options: endpointsliceOptions,
  example: { namespace: 'shop', service: 'web', kubeconfig: './edge.kubeconfig' },
  capabilities: ({ settle = SETTLE_DEFAULT }) => ({
    guarantee: 'G3',
    maxBatch: BATCH_MAX,
    inspect: 'strong',
    inFlight: 'none',
    volatileOnReload: false,
    settleMs: durationMs(settle),
  }),
  open({ namespace, service, ...access }, { component, folder }) {
    const cluster = createCluster({ component, folder, ...access })
    const api = createSliceApi({ component, cluster, namespace, service })
    /** The places of the entries of a list. A change depends on them. */
    const readings = new WeakMap<Entry, readonly Place[]>()
    const scopeOf = (server: string): string => `${server} ${namespace}/${service}`

    function refuse(problem: Problem | undefined): void {
      if (problem !== undefined) throw new AdapterError(component, problem.isForGood ? 'fatal' : 'retryable', problem.message)
    }

    /** Writes each slice once. The error of a slice becomes the result of its entries. */
    async function change(changes: readonly Change[], call: ChangeCall): Promise<ChangeResults> {
      const places = changes.flatMap((one) => one.places)
      const slices = new Set(places.map(({ place }) => place.slice))
      const errors = new Map<Slice, AdapterError>()
      for (const slice of slices) {
        const own = places.filter(({ place }) => place.slice === slice)
        await api.write(changedSlice(slice, own), call).catch((error: unknown) => {
          if (!(error instanceof AdapterError)) throw error
          errors.set(slice, error)
        })
      }
      return new Map(
        changes.map(({ entry, places: own }): [string, EffectResult] => {
          const error = worst(own.flatMap(({ place }) => errors.get(place.slice) ?? []))
          return [resultKey(entry), error === undefined ? { outcome: 'applied' } : { outcome: 'failed', error }]
        }),
      )
    }

    return {
      ...(cluster.server === undefined ? {} : { scopes: [scopeOf(cluster.server)] }),
      async list(call) {
        const { server } = await cluster.connection()
        const read = await api.read(call)
        const what = `the Service ${namespace}/${service}`
        refuse(serviceProblem(read.service, what))
        refuse(absenceProblem(read.slices, service, what))
        for (const slice of read.slices) refuse(sliceProblem(slice, service))
        return [...placesOf(read.slices)].flatMap(([name, places]) => {
          const at = parseAddress(name)
          if (at === undefined) return []
          const state = stateOf(places)
          const entry: Entry = {
            name,
            ...at,
            scope: scopeOf(server),
            state,
            prior: priorOf(places),
            detail: detailOf(name, places),
          }
          readings.set(entry, places)
          return [entry]
        })
      },
      drain: (entries, call) =>
        change(
          entries.map((entry) => ({ entry, places: drained(readings.get(entry)!) })),
          call,
        ),
      restore: (formers, call) =>
        change(
          formers.map(({ entry, state, prior }) => ({ entry, places: restored(readings.get(entry)!, state, prior) })),
          call,
        ),
      close: () => cluster.close(),
    }
  },
})

/** The error with the most doubt: an ambiguous one, or else the first one. */
function worst(errors: readonly AdapterError[]): AdapterError | undefined {
  return errors.find(({ kind }) => kind === 'ambiguous') ?? errors[0]
}

function detailOf(name: string, places: readonly Place[]): string {
  const said = places.map(({ slice, endpoint, isMarked }) => {
    const { ready, terminating } = endpoint.conditions ?? {}
    const words = [
      `ready ${ready ?? 'not set'}`,
      ...(terminating === true ? ['terminating'] : []),
      ...(isMarked ? ['drained by sluice'] : []),
    ]
    return `${words.join(', ')} in ${slice.metadata.name}`
  })
  return `${name}: ${said.join('; ')}`
}
