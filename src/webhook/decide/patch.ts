import type { PatchOperation } from '../../pods/patch-operation.ts'
import type { EntryState } from '../cluster/cluster-view.ts'
import type { EndpointsObject, SliceObject, Subset, SubsetAddress, SubsetsObject } from './endpoints-object.ts'

/** The state that an entry is to have: of each entry, in their order. Undefined for an entry that stays as it is wished. */
export type States = readonly (EntryState | 'removed' | undefined)[]

export interface Patched {
  readonly object: unknown
  readonly patch: readonly PatchOperation[]
}

export function patchObject({ kind, object }: EndpointsObject, states: States): Patched {
  if (states.every((state) => state === undefined)) return { object, patch: [] }
  return kind === 'EndpointSlice' ? patchSlice(object, states) : patchSubsets(object, states)
}

/** Changes the conditions of single endpoints, and then leaves out endpoints from the last to the first. */
function patchSlice(object: SliceObject, states: States): Patched {
  const patch: PatchOperation[] = []
  const endpoints = (object.endpoints ?? []).map((endpoint, index) => {
    const state = states[index]
    if (state === undefined || state === 'removed') return endpoint
    const { conditions } = endpoint
    if (conditions === undefined || conditions === null)
      patch.push({ op: 'add', path: `/endpoints/${index}/conditions`, value: { ...state } })
    else
      for (const name of ['ready', 'serving'] as const)
        if (conditions[name] !== state[name])
          patch.push({ op: 'add', path: `/endpoints/${index}/conditions/${name}`, value: state[name] })
    return { ...endpoint, conditions: { ...conditions, ready: state.ready, serving: state.serving } }
  })
  for (let index = endpoints.length - 1; index >= 0; index -= 1)
    if (states[index] === 'removed') patch.push({ op: 'remove', path: `/endpoints/${index}` })
  return { object: { ...object, endpoints: endpoints.filter((_one, index) => states[index] !== 'removed') }, patch }
}

function patchSubsets(object: SubsetsObject, states: States): Patched {
  let next = 0
  const moved = (object.subsets ?? []).map((subset): Subset => {
    const [ready, notReady]: [SubsetAddress[], SubsetAddress[]] = [[], []]
    const place = (address: SubsetAddress, isReady: boolean): void => {
      const state = states[next]
      next += 1
      if (state === 'removed') return
      const list = (state?.ready ?? isReady) ? ready : notReady
      list.push(address)
    }
    for (const address of subset.addresses ?? []) place(address, true)
    for (const address of subset.notReadyAddresses ?? []) place(address, false)
    return { ...subset, addresses: ready, notReadyAddresses: notReady }
  })
  const subsets = packed(moved)
  return { object: { ...object, subsets }, patch: [{ op: 'add', path: '/subsets', value: subsets }] }
}

/**
 * Packs subsets as the API server does (RepackSubsets): ports with the same addresses share a subset, an address that is ready and not
 * ready under one port is not ready, and a subset without addresses is left out. The API server orders the result by its own hash.
 */
function packed(subsets: readonly Subset[]): Subset[] {
  const byPort = new Map<string, { port: unknown; addresses: Map<string, { address: SubsetAddress; ready: boolean }> }>()
  for (const { addresses, notReadyAddresses, ports } of subsets) {
    for (const port of ports && ports.length > 0 ? ports : [undefined]) {
      const key = JSON.stringify(port) ?? ''
      const under = byPort.get(key) ?? { port, addresses: new Map<string, { address: SubsetAddress; ready: boolean }>() }
      byPort.set(key, under)
      const put = (address: SubsetAddress, ready: boolean): void => {
        const known = under.addresses.get(addressKey(address))
        if (known === undefined || known.ready)
          under.addresses.set(addressKey(address), { address: known?.address ?? address, ready })
      }
      for (const address of addresses ?? []) put(address, true)
      for (const address of notReadyAddresses ?? []) put(address, false)
    }
  }
  const sorted = Array.from(byPort.values(), ({ port, addresses }) => ({
    port,
    addresses: [...addresses].toSorted(([a], [b]) => (a < b ? -1 : 1)),
  }))
  const groups = Map.groupBy(sorted, ({ addresses }) => addresses.map(([key, { ready }]) => `${key}\0${ready}`).join('\n'))
  return [...groups.values()].flatMap((some): Subset[] => {
    const all = some[0]!.addresses.map(([, one]) => one)
    if (all.length === 0) return []
    const [ready, notReady] = [true, false].map((is) => all.filter((one) => one.ready === is).map(({ address }) => address))
    const ports = some.flatMap(({ port }) => (port === undefined ? [] : [port as NonNullable<Subset['ports']>[number]]))
    return [
      {
        ...(ready!.length > 0 ? { addresses: ready } : {}),
        ...(notReady!.length > 0 ? { notReadyAddresses: notReady } : {}),
        ...(ports.length > 0 ? { ports } : {}),
      },
    ]
  })
}

/** The API server tells addresses apart, and sorts them, by IP and UID. */
function addressKey({ ip, targetRef }: SubsetAddress): string {
  return `${ip}\0${targetRef?.uid ?? ''}`
}
