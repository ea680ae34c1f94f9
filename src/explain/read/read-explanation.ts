import { isReady } from '../../endpoints/readiness.ts'
import { pause } from '../../kube/pause.ts'
import { readOnce } from '../../kube/read-once.ts'
import { explain } from '../explain.ts'
import type { Explanation } from '../explanation.ts'
import type { Heartbeat, Observed } from '../observed.ts'
import { differsForNow, seenTwice } from '../seen-twice.ts'
import { createAttempts } from './attempts.ts'
import { readCluster, readRules, type ClusterReading } from './read-cluster.ts'
import { readEntries } from './read-entries.ts'
import { readRuns } from './read-runs.ts'
import type { ExplainPorts, ExplainRequest } from './request.ts'
import { readLeases, watchLeases } from './watch-leases.ts'

/** The time in which a controller that works catches up with the pods that were read. */
const SETTLE_MS = 1_000

/**
 * Reads and explains one object, and writes nothing. A difference from the controllers needs two looks: objects are read one after
 * another, and a controller may be about to write. Rejects with a WorkloadError where the object does not exist or may not be read, and
 * with a KubeError where the cluster cannot be reached.
 */
export async function readExplanation(request: ExplainRequest, ports: ExplainPorts): Promise<Explanation> {
  const { client, clock, signal } = ports
  const rules = await readRules(client)
  const look = async (beats?: ReadonlyMap<string, Heartbeat>): Promise<Observed> => {
    const attempts = createAttempts()
    const shared = { ...ports, client: readOnce(client) }
    const cluster = await readCluster(request, shared, attempts)
    const { views, pods, hasAllPods, services, slices, endpoints, nodes, wanted } = cluster
    const [entries, runs, heartbeats] = await Promise.all([
      readEntries(
        views.filter(({ finished }) => !finished || request.about.type === 'pod'),
        ports,
        attempts,
      ),
      readRuns(views, request.namespace, shared, attempts),
      beats ?? readHeartbeats(cluster, ports, attempts),
    ])
    return {
      about: request.about,
      rules,
      services,
      pods,
      hasAllPods,
      asked: new Set(views.map(({ uid }) => uid)),
      ...(slices === undefined ? {} : { slices }),
      ...(endpoints === undefined ? {} : { endpoints }),
      ...(nodes === undefined ? {} : { nodes }),
      heartbeats,
      ...(wanted === undefined ? {} : { wanted }),
      entries,
      runs,
      unread: attempts.unread,
    }
  }

  const observed = await look()
  const first = explain(observed)
  if (!differsForNow(first)) return first
  await pause(clock, SETTLE_MS, signal)
  signal.throwIfAborted()
  return seenTwice(first, explain(await look(observed.heartbeats)))
}

async function readHeartbeats(
  { views, nodes = [] }: ClusterReading,
  ports: ExplainPorts,
  attempts: ReturnType<typeof createAttempts>,
): Promise<Map<string, Heartbeat>> {
  const names = [...new Set(views.flatMap(({ node }) => node ?? []))]
  const leases = await readLeases(names, ports.client, attempts)
  const doubted = new Set([
    ...views.filter(({ nodeIsSilent }) => nodeIsSilent).flatMap(({ node }) => node ?? []),
    ...nodes.filter((node) => !isReady(node)).map(({ metadata }) => metadata.name),
  ])
  return watchLeases(leases, doubted, ports)
}
