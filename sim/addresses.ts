import type { Pod } from './kubelet/pod.ts'

/** Addresses of one node's pods. */
export interface Addresses {
  take(pod: Pod): string
  free(address: string): void
}

const FIRST = 2
const LAST = 65_534

/**
 * In order, as CNI's host-local gives them out: an address comes again only when all others have had their turn. With
 * `reuse` the lowest free one comes first, so that a pod gets the address that another one has just had.
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
