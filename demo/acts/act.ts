import type { Balancer } from '../balancers/balancer.ts'
import type { DemoCluster } from '../cluster/start.ts'

/** The stage of all acts: the same pods behind the same load balancer. */
export interface Stage {
  cluster: DemoCluster
  balancer: Balancer
}

/** A way to bring the pods to an image. */
export interface Act {
  /** The name in the table at the end. */
  name: string
  /** The description of the act, in a sentence. */
  about: string
  /** True where the node is late with its heartbeat once the first pod is back. */
  hasLateHeartbeat: boolean
  /** True where the act shows its own progress on the terminal. */
  showsItself: boolean
  /** Resolves when the act takes the upgrade for done, or with the reason why the act has given up. */
  upgrade(stage: Stage, image: string): Promise<string | undefined>
}
