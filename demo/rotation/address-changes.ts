import type { ApiServer, KubeObject } from '../../sim/api-server/server.ts'

const SLICES = 'endpointslices.discovery.k8s.io'

interface Slice extends KubeObject {
  endpoints?: { addresses: string[]; conditions?: { ready?: boolean } }[]
}

/** A stored endpoint has become ready, or has ceased to be. A pod that is upgraded in place keeps its address. */
export interface AddressChange {
  address: string
  isReady: boolean
}

/** Returns the function that ends it. */
export function watchAddresses({ store }: ApiServer, namespace: string, onChange: (change: AddressChange) => void): () => void {
  return store.subscribe((resource, { before, after }) => {
    if (resource !== SLICES || (after ?? before)?.metadata.namespace !== namespace) return
    const [was, is] = [readyIn(before), readyIn(after)]
    for (const address of new Set([...was, ...is]))
      if (was.has(address) !== is.has(address)) onChange({ address, isReady: is.has(address) })
  })
}

function readyIn(object: KubeObject | undefined): Set<string> {
  const { endpoints = [] } = (object ?? {}) as Partial<Slice>
  return new Set(endpoints.filter(({ conditions }) => conditions?.ready !== false).flatMap(({ addresses }) => addresses))
}
