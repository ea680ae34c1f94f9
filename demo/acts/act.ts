import type { Balancer } from '../balancers/balancer.ts'
import type { DemoCluster } from '../cluster/start.ts'

/** What all acts play on: the same pods behind the same load balancer. */
export interface Stage {
  cluster: DemoCluster
  balancer: Balancer
}

/** A way to bring the pods to an image. */
export interface Act {
  /** In the table at the end. */
  name: string
  /** What it does, in a sentence. */
  about: string
  /** The node is late with its heartbeat once the first pod is back. */
  hasLateHeartbeat: boolean
  /** It shows its own progress on the terminal. */
  showsItself: boolean
  /** Resolves when it believes that it is done, or with the reason why it has given up. */
  upgrade(stage: Stage, image: string): Promise<string | undefined>
}
