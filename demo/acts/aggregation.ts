import { setTimeout as sleep } from 'node:timers/promises'
import type { Act, Stage } from './act.ts'
import { isHome, readPods } from './home.ts'

const POLL_MS = 50

/** The usual duration of a request. */
const GUESSED_DRAIN_MS = 7_000
/** The time between two reads of Ready. */
const EVERY_MS = 2_000

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
    const { cluster, balancer } = stage
    const before = await readPods(stage)
    await whileFollowing(
      stage,
      { everyMs: EVERY_MS, isReady: async (pod) => (await cluster.api.read(pod)).isReady },
      async ({ hold, release }) => {
        for (const pod of cluster.pods) {
          hold(pod)
          await balancer.drain(pod)
          await sleep(GUESSED_DRAIN_MS)
          await cluster.api.patchImage(pod, image)
          release(pod)
        }
        while (!(await isHome(stage, before))) await sleep(POLL_MS)
      },
    )
    return undefined
  },
}

export interface FollowOptions {
  /** The time between two looks. */
  everyMs: number
  isReady(pod: string): Promise<boolean>
}

/** The job that admits and drains. */
export interface FollowingJob {
  /** Leaves a pod alone that another job has drained. */
  hold(pod: string): void
  release(pod: string): void
  /** The number of looks that have ended. */
  looks(): number
}

/** Has the job compare what is ready with the last command to the load balancer, while `work` goes on. */
export async function whileFollowing(
  { cluster, balancer }: Stage,
  { everyMs, isReady }: FollowOptions,
  work: (job: FollowingJob) => Promise<void>,
): Promise<void> {
  const held = new Set<string>()
  const told = new Map(cluster.pods.map((pod) => [pod, true]))
  const ending = new AbortController()
  let looks = 0

  async function follow(): Promise<void> {
    while (!ending.signal.aborted) {
      for (const pod of cluster.pods) {
        const isNow = await isReady(pod)
        if (held.has(pod) || told.get(pod) === isNow) continue
        told.set(pod, isNow)
        await (isNow ? balancer.restore(pod) : balancer.drain(pod))
      }
      looks += 1
      await sleep(everyMs, undefined, { signal: ending.signal }).catch(() => {})
    }
  }

  const job: FollowingJob = {
    hold(pod) {
      held.add(pod)
      told.set(pod, false)
    },
    release: (pod) => void held.delete(pod),
    looks: () => looks,
  }
  await Promise.all([follow(), work(job).finally(() => ending.abort())])
}
