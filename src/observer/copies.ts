import type { AddressChanges } from './address-changes.ts'
import type { Context } from './context.ts'
import type { EndpointObjectKind } from './events.ts'
import { FOLLOWS_WITHIN_MS } from './limits.ts'
import type { EndpointChange, Leg, OfService } from './told.ts'

/** Endpoints that another program copies from the EndpointSlices of the controllers, of any cluster that is observed. */
export interface Copies {
  /** Notes that a copied address is ready or not. @returns the lags after the EndpointSlices that it has followed */
  turned(of: OfService, kind: EndpointObjectKind, address: string, isReady: boolean): NonNullable<EndpointChange['lags']>
}

const LEGS: Readonly<Record<EndpointObjectKind, Leg>> = {
  EndpointSlice: 'endpointslice-endpointslice',
  Endpoints: 'endpointslice-endpoints',
}

export function createCopies(context: Context, changes: AddressChanges): Copies {
  /** The last turn of each address, by Service, kind and address. */
  const turns = new Map<string, { at: number; isReady: boolean }>()
  return {
    turned(of, kind, address, isReady) {
      const key = [of.cluster, of.namespace, of.service, kind, address].join('\0')
      const known = turns.get(key)
      if (known?.isReady === isReady) return []
      const turn = { at: context.now(), isReady }
      turns.set(key, turn)
      // A change of an EndpointSlice is forgotten after the same time.
      context.later(turn.at + FOLLOWS_WITHIN_MS, () => {
        if (turns.get(key) === turn) turns.delete(key)
      })
      return changes.saying(address, isReady, known?.at ?? -Infinity).flatMap(({ at, isCopy, cluster, namespace, service }) => {
        if (isCopy) return []
        const lagMs = turn.at - at
        context.measured({ ...of, leg: LEGS[kind], from: cluster }, lagMs)
        return [{ cluster, namespace, service, lagMs }]
      })
    },
  }
}
