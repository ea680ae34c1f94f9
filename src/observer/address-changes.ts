import type { Context } from './context.ts'
import { FOLLOWS_WITHIN_MS } from './limits.ts'
import type { OfService } from './told.ts'

export interface AddressChange extends OfService {
  at: number
  isReady: boolean
  /** Whether a program other than the controllers of Kubernetes keeps the slice. */
  isCopy: boolean
}

/** The last changes of addresses in EndpointSlices, each kept for 10 minutes. Load balancers and copies are matched with them. */
export interface AddressChanges {
  /** Notes that the EndpointSlices of a Service have changed an address to ready, or to not ready or gone (`isReady` false). */
  changed(of: OfService, address: string, isReady: boolean, isCopy: boolean): void
  /** Returns the changes of the address to `isReady`, one for each Service, that are later than `sinceAt`. */
  saying(address: string, isReady: boolean, sinceAt: number): AddressChange[]
}

export function createAddressChanges(context: Context): AddressChanges {
  const changes = new Map<string, Map<string, AddressChange>>()
  return {
    changed(of, address, isReady, isCopy) {
      const at = context.now()
      const own = changes.get(address) ?? new Map<string, AddressChange>()
      const key = `${of.cluster}/${of.namespace}/${of.service}`
      // An address that is not ready and then goes gets no requests from the first of the two on.
      if (own.get(key)?.isReady === isReady) return
      const change = { ...of, at, isReady, isCopy }
      changes.set(address, own.set(key, change))
      context.later(at + FOLLOWS_WITHIN_MS, () => {
        if (own.get(key) === change) own.delete(key)
        if (own.size === 0 && changes.get(address) === own) changes.delete(address)
      })
    },
    saying: (address, isReady, sinceAt) =>
      [...(changes.get(address)?.values() ?? [])].filter((one) => one.isReady === isReady && one.at > sinceAt),
  }
}
