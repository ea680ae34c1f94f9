import type { PodView } from '../cluster/api.ts'
import type { Stage } from './act.ts'

export async function readPods({ cluster }: Stage): Promise<Map<string, PodView>> {
  return new Map(await Promise.all(cluster.pods.map(async (pod) => [pod, await cluster.api.read(pod)] as const)))
}

/** Reports whether all pods run another container than before, are Ready, and get requests. */
export async function isHome(stage: Stage, before: ReadonlyMap<string, PodView>): Promise<boolean> {
  const rotation = await stage.balancer.look()
  const now = await readPods(stage)
  return stage.cluster.pods.every((pod) => {
    const { isReady, containerId } = now.get(pod)!
    return isReady && containerId !== '' && containerId !== before.get(pod)?.containerId && rotation.get(pod) === true
  })
}
