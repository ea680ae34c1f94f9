import type { Scene } from './scene.ts'
import { simulate } from './simulate.ts'

export interface Kill {
  /** In the order of their starts, from 0. */
  process: number
  /** Killed before this one, from 0: a reply, a watch event or a timer. */
  delivery: number
}

/** Runs a scene with sluice killed at these moments and run again, and says what came of it. */
export async function killedAt(scene: Scene, kills: readonly Kill[]) {
  const { violations, ends, deliveries } = await simulate(scene, { kills })
  return { kills, violations, last: ends.at(-1), deliveries }
}
