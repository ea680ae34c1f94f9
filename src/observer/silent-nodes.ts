import type { Context } from './context.ts'
import { HEARTBEAT_COLLECT_MS, HEARTBEAT_WITHIN_MS, NODE_GOES_WITHIN_MS } from './limits.ts'

/**
 * Finds pods that turn not ready because the heartbeat of their node is late. No finding is made of a node that reports itself as not
 * ready, as at a shutdown, or of a node that is deleted soon after.
 */
export interface SilentNodes {
  /** Notes that condition Ready of a pod was set to False while its containers are ready. */
  podLost(node: string, pod: { uid: string; name: string }): void
  podGone(node: string, uid: string): void
  nodeSeen(node: string, ready: string): void
  nodeGone(node: string): void
  /** `does` is false where nodes may not be read: findings are then made of the pods alone. */
  readsNodes(does: boolean): void
  /** Makes the findings that are not due yet, at the end of the observation. */
  end(): void
}

interface Episode {
  startedAt: number
  lastAt: number
  /** The names of the pods, by UID. */
  pods: Map<string, string>
  isTold: boolean
}

interface NodeState {
  ready: string
  /** The last time for which the heartbeat of the node was late. `until` is absent while the heartbeat is late. */
  late?: { from: number; until?: number }
}

export function createSilentNodes(context: Context, cluster: string): SilentNodes {
  const episodes = new Map<string, Episode>()
  const nodes = new Map<string, NodeState>()
  let hasNodes = true

  const aboutNode = (name: string): string => `${cluster}/${name}`

  function tell(name: string, episode: Episode, ready: string | undefined, isLate: boolean): void {
    const { pods, startedAt, lastAt } = episode
    episode.isTold = true
    context.find(
      {
        code: 'pods-lost-with-heartbeat',
        cluster,
        node: name,
        ...(ready === undefined ? {} : { ready }),
        pods: [...pods.values()].sort(),
        spanMs: lastAt - startedAt,
      },
      isLate ? aboutNode(name) : undefined,
    )
  }

  /** Makes the finding once it is due. A node that is still silent may be deleted soon, so that its finding comes later. */
  function look(name: string, isEnd = false): void {
    const episode = episodes.get(name)
    if (episode === undefined || episode.isTold) return
    const now = context.now()
    const isDue = (since: number, forMs: number): boolean => isEnd || now - since >= forMs
    if (!hasNodes) {
      if (isDue(episode.startedAt, NODE_GOES_WITHIN_MS)) tell(name, episode, undefined, false)
      return
    }
    const { ready, late } = nodes.get(name) ?? {}
    if (late === undefined) return
    const { from, until } = late
    const { startedAt } = episode
    const isOfIt = from <= startedAt + HEARTBEAT_WITHIN_MS && (until ?? now) >= startedAt - HEARTBEAT_WITHIN_MS
    if (!isOfIt) return
    const isLate = until === undefined
    if (isLate ? isDue(Math.max(startedAt, from), NODE_GOES_WITHIN_MS) : isDue(startedAt, HEARTBEAT_COLLECT_MS))
      tell(name, episode, ready, isLate)
  }

  function lookLater(name: string): void {
    for (const afterMs of [HEARTBEAT_COLLECT_MS, NODE_GOES_WITHIN_MS]) context.later(context.now() + afterMs, () => look(name))
  }

  function begin(name: string): Episode {
    const startedAt = context.now()
    const episode = { startedAt, lastAt: startedAt, pods: new Map<string, string>(), isTold: false }
    episodes.set(name, episode)
    lookLater(name)
    // The node may send no more events that would end the episode.
    context.later(startedAt + HEARTBEAT_WITHIN_MS + NODE_GOES_WITHIN_MS + 1, () => {
      if (episodes.get(name) === episode) episodes.delete(name)
    })
    return episode
  }

  return {
    podLost(node, { uid, name }) {
      const known = episodes.get(node)
      const isSame = known !== undefined && context.now() - known.startedAt <= HEARTBEAT_WITHIN_MS
      const episode = isSame ? known : begin(node)
      episode.lastAt = context.now()
      episode.pods.set(uid, name)
    },
    podGone(node, uid) {
      const episode = episodes.get(node)
      if (episode?.pods.delete(uid) === true && episode.pods.size === 0) episodes.delete(node)
    },
    nodeSeen(name, ready) {
      const now = context.now()
      const before = nodes.get(name)
      const wasLate = before?.late !== undefined && before.late.until === undefined
      // A node that has reported False itself and then falls silent, as at a shutdown, is no late heartbeat.
      const isLate = ready === 'Unknown' && (wasLate || before === undefined || before.ready === 'True')
      const late = isLate
        ? wasLate
          ? before.late
          : { from: now }
        : wasLate
          ? { from: before.late!.from, until: now }
          : before?.late
      nodes.set(name, { ready, ...(late && { late }) })
      if (isLate !== wasLate) lookLater(name)
      if (wasLate && !isLate) {
        look(name)
        context.over('pods-lost-with-heartbeat', aboutNode(name))
      }
    },
    nodeGone(name) {
      nodes.delete(name)
      episodes.delete(name)
      context.over('pods-lost-with-heartbeat', aboutNode(name))
    },
    readsNodes(does) {
      hasNodes = does
    },
    end() {
      for (const name of episodes.keys()) look(name, true)
    },
  }
}
