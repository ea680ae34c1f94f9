import type { Context } from './context.ts'
import { FOLLOWS_WITHIN_MS } from './limits.ts'

export interface Holder {
  cluster: string
  namespace: string
  pod: string
}

/** `why`: what has become of it. */
export interface FormerHolder extends Holder {
  why: 'pod-gone' | 'pod-has-another-address' | 'pod-finished'
}

/** The pods and the nodes of all clusters, by their addresses. */
export interface Holders {
  /** `holder` is undefined for a node. */
  hold(address: string, key: string, holder: Holder | undefined): void
  release(address: string, key: string, why: FormerHolder['why']): void
  isHeld(address: string): boolean
  podAt(address: string): Holder | undefined
  /** The pod that was seen to have it last, where nothing has it now. */
  formerAt(address: string): FormerHolder | undefined
}

/** `isNamed`: something still names the address; otherwise a former holder is forgotten. `changed`: it has other holders. */
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
