import type { ApiServer, KubeObject } from '../../sim/api-server/server.ts'

const SLICES = 'endpointslices.discovery.k8s.io'

interface Slice extends KubeObject {
  endpoints?: { conditions?: { ready?: boolean }; targetRef?: { uid: string } }[]
}

/** Calls `onChange` whenever a stored endpoint of a pod becomes ready, or ceases to be. Returns the function that ends it. */
export function countAddressChanges({ store }: ApiServer, namespace: string, onChange: () => void): () => void {
  return store.subscribe((resource, { before, after }) => {
    if (resource !== SLICES || (after ?? before)?.metadata.namespace !== namespace) return
    const [was, is] = [readyIn(before), readyIn(after)]
    for (const uid of new Set([...was, ...is])) if (was.has(uid) !== is.has(uid)) onChange()
  })
}

function readyIn(object: KubeObject | undefined): Set<string | undefined> {
  const { endpoints = [] } = (object ?? {}) as Partial<Slice>
  return new Set(endpoints.filter(({ conditions }) => conditions?.ready !== false).map(({ targetRef }) => targetRef?.uid))
}
