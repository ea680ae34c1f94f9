import { setTimeout as sleep } from 'node:timers/promises'
import type { Act, Stage } from './act.ts'
import { isHome, readPods } from './home.ts'

const POLL_MS = 50

export interface AggregationOptions {
  /** The usual duration of a request. */
  guessedDrainMs: number
  /** The time between two reads of Ready. */
  everyMs: number
}

/**
 * The incident that led to sluice. A batch job drains a pod, waits for the usual duration of a request, patches the pod, and goes on.
 * Another job compares Ready with the last command to the load balancer every two seconds.
 */
export const aggregation: Act = {
  name: 'wait 7 s, patch, follow Ready',
  about: 'Drain a pod, wait 7 s, patch it, go on. Every 2 s a job compares Ready with the load balancer, and admits or drains.',
  hasLateHeartbeat: true,
  showsItself: false,
  async upgrade(stage, image) {
    await upgradeByAggregation(stage, image, { guessedDrainMs: 7_000, everyMs: 2_000 })
    return undefined
  },
}

/** Resolves when all pods are home. */
export async function upgradeByAggregation(
  stage: Stage,
  image: string,
  { guessedDrainMs, everyMs }: AggregationOptions,
): Promise<void> {
  const { cluster, balancer } = stage
  /** The pod that the batch job works on. The other job leaves it alone. */
  const held = new Set<string>()
  const told = new Map(cluster.pods.map((pod) => [pod, true]))
  const ending = new AbortController()

  async function follow(): Promise<void> {
    while (!ending.signal.aborted) {
      for (const pod of cluster.pods) {
        const { isReady } = await cluster.api.read(pod)
        if (held.has(pod) || told.get(pod) === isReady) continue
        told.set(pod, isReady)
        await (isReady ? balancer.restore(pod) : balancer.drain(pod))
      }
      await sleep(everyMs, undefined, { signal: ending.signal }).catch(() => {})
    }
  }

  async function upgradeAll(): Promise<void> {
    const before = await readPods(stage)
    for (const pod of cluster.pods) {
      held.add(pod)
      told.set(pod, false)
      await balancer.drain(pod)
      await sleep(guessedDrainMs)
      await cluster.api.patchImage(pod, image)
      held.delete(pod)
    }
    while (!(await isHome(stage, before))) await sleep(POLL_MS)
  }

  await Promise.all([follow(), upgradeAll().finally(() => ending.abort())])
}
