import type { Context } from './context.ts'
import { FOLLOWS_WITHIN_MS } from './limits.ts'
import type { OfService } from './told.ts'

export interface AddressChange extends OfService {
  at: number
  isReady: boolean
  /** Another program than the controllers of Kubernetes keeps the slice. */
  isCopy: boolean
}

/** What EndpointSlices have said of late: load balancers and copies follow it. */
export interface AddressChanges {
  /** The EndpointSlices of a Service say something else of the address than before. */
  changed(of: OfService, address: string, isReady: boolean, isCopy: boolean): void
  /** The Services whose slices say the same of the address since an instant after `sinceAt`. */
  saying(address: string, isReady: boolean, sinceAt: number): AddressChange[]
}

export function createAddressChanges(context: Context): AddressChanges {
  const changes = new Map<string, Map<string, AddressChange>>()
  return {
    changed(of, address, isReady, isCopy) {
      const at = context.now()
      const own = changes.get(address) ?? new Map<string, AddressChange>()
      const key = `${of.cluster}/${of.namespace}/${of.service}`
      // Not ready and then gone: no requests since the first of the two.
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
