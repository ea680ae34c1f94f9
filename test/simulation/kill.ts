import type { Scene } from './scene.ts'
import { simulate } from './simulate.ts'

export interface Kill {
  /** The number of the process in the order of their starts, from 0. */
  process: number
  /** The number of the delivery before which the process is killed, from 0: a reply, a watch event or a timer. */
  delivery: number
}

/** Runs a scene with sluice killed at these moments and started again. Returns the result. */
export async function killedAt(scene: Scene, kills: readonly Kill[]) {
  const { violations, ends, deliveries } = await simulate(scene, { kills })
  return { kills, violations, last: ends.at(-1), deliveries }
}
