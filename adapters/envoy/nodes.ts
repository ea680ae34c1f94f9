/** Reads from `sluice adapter serve` what each Envoy has loaded. */
import { fetchJson } from '../fetch-json.ts'
import type { Host, View } from './admin.ts'
import { stateOf } from './assignment.ts'
import { NODES_PATH, type NodesPage, nodesPage } from './discovery.ts'

/**
 * A view of each Envoy in `ids`, and of every other Envoy that uses the server. Rejects if an Envoy in `ids` has not sent a request yet, or
 * if the server does not know what an Envoy has loaded.
 */
export async function lookAtNodes(url: string, ids: readonly string[], signal: AbortSignal): Promise<View[]> {
  const { nodes } = await fetchJson(`${url}${NODES_PATH}`, nodesPage, signal)
  const silent = ids.find((id) => nodes.every((node) => node.id !== id))
  if (silent !== undefined)
    throw new Error(`${url} does not know what ${silent} has taken: ${silent} has not asked for its endpoints`)
  return nodes.map((node) => viewOf(url, node))
}

function viewOf(url: string, { id, from, statuses }: NodesPage['nodes'][number]): View {
  if (statuses === undefined) throw new Error(`${url} does not know yet what ${id} (${from}) has taken`)
  const hosts = Object.entries(statuses).map(([address, status]): [string, Host[]] => {
    const state = stateOf(status)
    return [address, [{ state, isHealthy: state === 'in', inFlight: null }]]
  })
  return { url: `${id} of ${url}`, hosts: new Map(hosts), isInPanic: false, wouldPanic: () => false }
}
