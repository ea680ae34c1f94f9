import { RunError } from '../../src/engine/errors.ts'
import type { ToldPod } from './told.ts'
import type { ResolvePorts } from '../../src/engine/resolving/resolve.ts'
import { resolvePod } from '../../src/engine/resolving/resolve.ts'
import { KubeError } from '../../src/kube/errors.ts'
import { pause } from '../../src/kube/pause.ts'
import { NAMESPACE } from './manifests.ts'
import type { World } from './world.ts'

const LOOK_AFTER_MS = 30_000

/** What somebody types who is asked about these pods: of each that is there, and of each load balancer, what is so. */
export async function resolveAll(
  pods: readonly ToldPod[],
  world: World,
  ports: Pick<ResolvePorts, 'client' | 'clock' | 'random' | 'identity'>,
): Promise<string[]> {
  const said: string[] = []
  // As they are told to: what nobody has answered may still arrive.
  await pause(ports.clock, LOOK_AFTER_MS)
  for (const { uid, pod, targets = [] } of pods) {
    if (!world.pods().some(({ metadata }) => metadata.uid === uid)) continue
    // In this order: what is in is left alone by what begins anew for the others.
    for (const traffic of ['in', 'out'] as const) {
      const isSo = (one: { loadBalancer: string; target: string }): boolean => trafficOf(one, world) === traffic
      const loadBalancers = [...new Set(targets.filter(isSo).map(({ loadBalancer }) => loadBalancer))]
      if (loadBalancers.length > 0) said.push(await say({ pod, traffic, loadBalancers }, ports))
    }
  }
  return said
}

interface Saying {
  pod: string
  traffic: 'in' | 'out'
  loadBalancers: string[]
}

async function say(saying: Saying, ports: Pick<ResolvePorts, 'client' | 'clock' | 'random' | 'identity'>): Promise<string> {
  const { pod, traffic, loadBalancers } = saying
  // Of the pod that is looked at, whatever is left of others of its name.
  const request = { namespace: NAMESPACE, ...saying, of: 'live' as const }
  const told = { signal: new AbortController().signal, onWaiting() {}, onTrouble() {} }
  const what = `${pod} is ${traffic} at ${loadBalancers.join(', ')}`
  try {
    await resolvePod(request, { ...ports, ...told })
    return what
  } catch (error) {
    if (!(error instanceof RunError) && !(error instanceof KubeError)) throw error
    return `${what}, which is refused: ${error.message}`
  }
}

/** An entry is known by its name there, and by the address that it had. */
function trafficOf({ loadBalancer, target }: { loadBalancer: string; target: string }, { balancers }: World): 'in' | 'out' {
  const state = balancers.get(loadBalancer)?.state(target.split('@')[0]!)
  return state?.admin === 'ready' ? 'in' : 'out'
}
