import type { Context } from './context.ts'
import { HEARTBEAT_COLLECT_MS, HEARTBEAT_WITHIN_MS, NODE_GOES_WITHIN_MS } from './limits.ts'

/**
 * Finds pods that turn not ready since the heartbeat of their node is late, and not by themselves. A node that says itself that it is not
 * ready, as one does that shuts down, is none; nor is one that goes soon after.
 */
export interface SilentNodes {
  /** Its containers are ready, and its Ready was taken away. */
  podLost(node: string, pod: { uid: string; name: string }): void
  podGone(node: string, uid: string): void
  nodeSeen(node: string, ready: string): void
  nodeGone(node: string): void
  /** Where nodes may not be read, pods alone are gone by. */
  readsNodes(does: boolean): void
  /** Tells what there is until now. */
  end(): void
}

interface Episode {
  startedAt: number
  lastAt: number
  /** Names by UID. */
  pods: Map<string, string>
  isTold: boolean
}

interface NodeState {
  ready: string
  /** When its heartbeat was last late, from the first to the last instant; the last is absent where it is so now. */
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

  /** Of a node that is silent still it is waited whether it goes. */
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
    // Its node may be one that nothing is told of any more.
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
      // After a False it is the same node that is not ready, and says no more.
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
