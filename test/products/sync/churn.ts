import { setTimeout as sleep } from 'node:timers/promises'
import type { Workload } from './workload.ts'

export interface Churn {
  changes(): number
  stop(): Promise<void>
}

export interface ChurnOptions {
  workload: Workload
  services: readonly string[]
  everyMs: number
  random: () => number
}

/** Changes pods of a cluster all the time: ready, not ready, deleted and made again. Each Service keeps about its number of pods. */
export function startChurn({ workload, services, everyMs, random }: ChurnOptions): Churn {
  const ending = new AbortController()
  let changes = 0
  const sizes = new Map(services.map((service) => [service, workload.pods(service).size]))
  const pick = <One>(some: readonly One[]): One => some[Math.floor(random() * some.length)]!

  async function change(): Promise<void> {
    const service = pick(services)
    const pods = [...workload.pods(service)]
    const [name, { isReady }] = pick(pods)
    const dice = random()
    if (dice < 0.2 && pods.length > sizes.get(service)! / 2) await workload.deletePod(name)
    else if (dice < 0.4 && pods.length < sizes.get(service)!) await workload.makePods(service, 1)
    else await workload.setReady(name, !isReady)
    changes += 1
  }

  async function run(): Promise<void> {
    while (!ending.signal.aborted) {
      // The API server of the cluster may be away.
      await change().catch(() => {})
      await sleep(everyMs)
    }
  }
  const ended = run()
  return {
    changes: () => changes,
    async stop() {
      ending.abort()
      await ended
    },
  }
}

/** A random source with a seed, so that a failure can be repeated. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
