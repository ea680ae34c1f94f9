import type { EntryState } from '../cluster/cluster-view.ts'
import type { EndpointsObject, SliceObject, SubsetAddress, SubsetsObject } from './endpoints-object.ts'

export interface PodName {
  readonly namespace: string
  readonly name: string
  readonly uid: string
}

/** One endpoint of an EndpointSlice, or one address in one subset of Endpoints. */
export interface Entry {
  readonly addresses: readonly string[]
  /** The state that the writer wishes. */
  readonly wished: EntryState
  readonly terminating: boolean
  readonly pod?: PodName
  readonly nodeName?: string
  /** The endpoint or the address, as the object has it. */
  readonly raw: object
}

type Reference = SubsetAddress['targetRef']

function podOf(reference: Reference, namespace: string): { pod?: PodName } {
  if (reference?.kind !== 'Pod' || !reference.uid) return {}
  return { pod: { namespace: reference.namespace || namespace, name: reference.name ?? '', uid: reference.uid } }
}

function nodeOf(nodeName: string | null | undefined): { nodeName?: string } {
  return nodeName ? { nodeName } : {}
}

export function entriesOf({ kind, object }: EndpointsObject): Entry[] {
  return kind === 'EndpointSlice' ? sliceEntries(object) : subsetEntries(object)
}

/** The entries in the order of the object. `ready` is true and `serving` equals `ready` where a slice does not say it. */
function sliceEntries({ metadata: { namespace }, endpoints }: SliceObject): Entry[] {
  return (endpoints ?? []).map((raw) => {
    const ready = raw.conditions?.ready ?? true
    return {
      addresses: raw.addresses,
      wished: { ready, serving: raw.conditions?.serving ?? ready },
      terminating: raw.conditions?.terminating ?? false,
      ...podOf(raw.targetRef, namespace),
      ...nodeOf(raw.nodeName),
      raw,
    }
  })
}

/** The entries by subset, ready addresses first. */
function subsetEntries({ metadata: { namespace }, subsets }: SubsetsObject): Entry[] {
  const entry = (raw: SubsetAddress, ready: boolean): Entry => ({
    addresses: [raw.ip],
    wished: { ready, serving: ready },
    terminating: false,
    ...podOf(raw.targetRef, namespace),
    ...nodeOf(raw.nodeName),
    raw,
  })
  return (subsets ?? []).flatMap(({ addresses, notReadyAddresses }) => [
    ...(addresses ?? []).map((raw) => entry(raw, true)),
    ...(notReadyAddresses ?? []).map((raw) => entry(raw, false)),
  ])
}

/** Finds the former state of an endpoint: by its pod and address, else by its pod, else by its address where it has no pod. */
export function formerStates(entries: readonly Entry[]): (entry: Entry) => EntryState | undefined {
  const known = new Map<string, EntryState>()
  const put = (key: string, state: EntryState): void => {
    // An address of several subsets is ready where it is ready in each.
    const other = known.get(key)
    known.set(key, other === undefined || other.ready ? state : other)
  }
  for (const { pod, addresses, wished } of entries) {
    if (pod !== undefined) put(pod.uid, wished)
    for (const address of addresses) put(`${pod?.uid ?? ''}\0${address}`, wished)
  }
  return ({ pod, addresses }) => {
    const byAddress = addresses.map((address) => known.get(`${pod?.uid ?? ''}\0${address}`)).find((one) => one !== undefined)
    return byAddress ?? (pod === undefined ? undefined : known.get(pod.uid))
  }
}
