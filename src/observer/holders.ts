import type { Context } from './context.ts'
import { FOLLOWS_WITHIN_MS } from './limits.ts'

export interface Holder {
  cluster: string
  namespace: string
  pod: string
}

/** A pod that no longer has the address. `why` is the cause. */
export interface FormerHolder extends Holder {
  why: 'pod-gone' | 'pod-has-another-address' | 'pod-finished'
}

/** The pods and nodes of all clusters, by address. */
export interface Holders {
  /** `key` identifies the pod or node. `holder` is undefined for a node. */
  hold(address: string, key: string, holder: Holder | undefined): void
  release(address: string, key: string, why: FormerHolder['why']): void
  isHeld(address: string): boolean
  podAt(address: string): Holder | undefined
  /** Returns the pod that had the address last, where no pod and no node has it now. */
  formerAt(address: string): FormerHolder | undefined
}

/**
 * A former holder is forgotten after 10 minutes, or later while `isNamed` returns that endpoints or an entry have the address. `changed` is
 * called when a pod or node has got or lost the address.
 */
export function createHolders(
  context: Context,
  isNamed: (address: string) => boolean,
  changed: (address: string) => void,
): Holders {
  const holders = new Map<string, Map<string, Holder | undefined>>()
  const former = new Map<string, FormerHolder>()

  function forgetLater(address: string, one: FormerHolder): void {
    context.later(context.now() + FOLLOWS_WITHIN_MS, () => {
      if (former.get(address) !== one) return
      if (isNamed(address)) forgetLater(address, one)
      else former.delete(address)
    })
  }

  return {
    hold(address, key, holder) {
      const own = holders.get(address) ?? new Map<string, Holder | undefined>()
      holders.set(address, own.set(key, holder))
      former.delete(address)
      changed(address)
    },
    release(address, key, why) {
      const own = holders.get(address)
      const holder = own?.get(key)
      own?.delete(key)
      if (own?.size === 0) {
        holders.delete(address)
        if (holder !== undefined) {
          const one = { ...holder, why }
          former.set(address, one)
          forgetLater(address, one)
        }
      }
      changed(address)
    },
    isHeld: (address) => holders.has(address),
    podAt: (address) => [...(holders.get(address)?.values() ?? [])].find((one) => one !== undefined),
    formerAt: (address) => former.get(address),
  }
}
