import type { Context } from './context.ts'
import { HEARTBEAT_COLLECT_MS, HEARTBEAT_WITHIN_MS } from './limits.ts'

/** Finds pods that turn not ready since the heartbeat of their node was late, and not by themselves. */
export interface SilentNodes {
  /** Its containers are ready, and its Ready was taken away. */
  podLost(node: string, pod: string): void
  nodeSeen(node: string, ready: string): void
  nodeGone(node: string): void
}

interface Episode {
  startedAt: number
  lastAt: number
  pods: Set<string>
  isTold: boolean
}

export function createSilentNodes(context: Context, cluster: string): SilentNodes {
  const episodes = new Map<string, Episode>()
  /** `lateAt`: when the node was last seen as not ready. */
  const nodes = new Map<string, { ready: string; lateAt?: number }>()

  const aboutNode = (name: string): string => `${cluster}/${name}`

  function look(name: string): void {
    const [episode, node] = [episodes.get(name), nodes.get(name)]
    if (episode === undefined || node === undefined || episode.isTold) return
    // The last of its pods has its own look.
    if (context.now() - episode.startedAt < HEARTBEAT_COLLECT_MS) return
    const isLate = node.ready !== 'True'
    const wasLate = node.lateAt !== undefined && node.lateAt >= episode.startedAt - HEARTBEAT_WITHIN_MS
    if (!isLate && !wasLate) return
    episode.isTold = true
    const { pods, startedAt, lastAt } = episode
    context.find(
      {
        code: 'pods-lost-with-heartbeat',
        cluster,
        node: name,
        ready: node.ready,
        pods: [...pods].sort(),
        spanMs: lastAt - startedAt,
      },
      isLate ? aboutNode(name) : undefined,
    )
  }

  function lookLater(node: string): void {
    context.later(context.now() + HEARTBEAT_COLLECT_MS, () => look(node))
  }

  return {
    podLost(node, pod) {
      const now = context.now()
      const known = episodes.get(node)
      const isSame = known !== undefined && now - known.startedAt <= HEARTBEAT_WITHIN_MS
      const episode = isSame ? known : { startedAt: now, lastAt: now, pods: new Set<string>(), isTold: false }
      episode.lastAt = now
      episode.pods.add(pod)
      episodes.set(node, episode)
      lookLater(node)
    },
    nodeSeen(name, ready) {
      const before = nodes.get(name)
      const isOrWasLate = ready !== 'True' || (before !== undefined && before.ready !== 'True')
      const lateAt = isOrWasLate ? context.now() : before?.lateAt
      nodes.set(name, { ready, ...(lateAt === undefined ? {} : { lateAt }) })
      if (ready !== 'True') lookLater(name)
      else context.over('pods-lost-with-heartbeat', aboutNode(name))
    },
    nodeGone(name) {
      nodes.delete(name)
      episodes.delete(name)
      context.over('pods-lost-with-heartbeat', aboutNode(name))
    },
  }
}
