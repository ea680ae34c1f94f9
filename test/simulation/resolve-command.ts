import { RunError } from '../../src/engine/errors.ts'
import type { ToldPod } from './told.ts'
import type { ResolvePorts } from '../../src/engine/resolving/resolve.ts'
import { resolvePod } from '../../src/engine/resolving/resolve.ts'
import { KubeError } from '../../src/kube/errors.ts'
import { pause } from '../../src/kube/pause.ts'
import { NAMESPACE } from './manifests.ts'
import type { World } from './world.ts'

const LOOK_AFTER_MS = 30_000

/** Runs the `sluice resolve` commands of an operator for these pods: for each present pod and each load balancer, with the real state. */
export async function resolveAll(
  pods: readonly ToldPod[],
  world: World,
  ports: Pick<ResolvePorts, 'client' | 'clock' | 'random' | 'identity'>,
): Promise<string[]> {
  const said: string[] = []
  // The operator waits as instructed, since a call without an answer may still arrive.
  await pause(ports.clock, LOOK_AFTER_MS)
  for (const { uid, pod, targets = [] } of pods) {
    if (!world.pods().some(({ metadata }) => metadata.uid === uid)) continue
    // The order matters: a command about a target in rotation leaves it alone, while the next command begins again for the other targets.
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
  // The statement is about the present pod, regardless of records about earlier pods of its name.
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

/** Returns the state of a target. An entry is known by its name and its former address. */
function trafficOf({ loadBalancer, target }: { loadBalancer: string; target: string }, { balancers }: World): 'in' | 'out' {
  const state = balancers.get(loadBalancer)?.state(target.split('@')[0]!)
  return state?.admin === 'ready' ? 'in' : 'out'
}
