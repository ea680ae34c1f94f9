/** What the Envoys have taken that ask `sluice adapter serve` for their endpoints, by what the server says. */
import { fetchJson } from '../fetch-json.ts'
import type { Host, View } from './admin.ts'
import { stateOf } from './assignment.ts'
import { NODES_PATH, nodesPage } from './discovery.ts'

/** A view of each of them. Rejects where one has not asked yet, or has what the server does not know. */
export async function lookAtNodes(url: string, ids: readonly string[], signal: AbortSignal): Promise<View[]> {
  const { nodes } = await fetchJson(`${url}${NODES_PATH}`, nodesPage, signal)
  return ids.map((id): View => {
    const node = nodes.find((one) => one.id === id)
    if (node === undefined) {
      const known = nodes.map((one) => one.id).join(', ')
      throw new Error(`${url} does not know what ${id} has taken: it has answered ${known === '' ? 'no Envoy' : known} so far`)
    }
    const hosts = Object.entries(node.statuses).map(([address, status]): [string, Host[]] => {
      const state = stateOf(status)
      return [address, [{ state, isHealthy: state === 'in', inFlight: null }]]
    })
    return { url: `${id} of ${url}`, hosts: new Map(hosts), isInPanic: false, wouldPanic: () => false }
  })
}
