import type { Pod } from './kubelet/pod.ts'

/** The pod addresses of one node. */
export interface Addresses {
  take(pod: Pod): string
  free(address: string): void
}

const FIRST = 2
const LAST = 65_534

/**
 * Gives out the addresses in order, as host-local of CNI does: an address returns only after all others have been given out. With `reuse`,
 * the lowest free address comes first, so that a pod gets the address that another pod has just left.
 */
export function createAddresses(prefix: string, reuse: boolean): Addresses {
  const taken = new Set<number>()
  let last = FIRST - 1

  function next(): number {
    const from = reuse ? FIRST : last + 1
    for (let step = 0; step <= LAST - FIRST; step++) {
      const candidate = FIRST + ((from - FIRST + step) % (LAST - FIRST + 1))
      if (!taken.has(candidate)) return candidate
    }
    throw new Error(`sim: no address is free below ${prefix}`)
  }

  return {
    take() {
      last = next()
      taken.add(last)
      return `${prefix}.${last >> 8}.${last & 255}`
    },
    free(address) {
      const [, , high, low] = address.split('.')
      taken.delete((Number(high) << 8) + Number(low))
    },
  }
}
