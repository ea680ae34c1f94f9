import type { PodOutcome, PodState, RunEvent, RunResult } from '../../src/engine/events.ts'
import type { SluiceProcess, UpgradeBed } from './upgrade-bed.ts'

/* Moments of a run to do something at, and what is said about a run in the end. */

/** Traffic that keeps a drained pod busy for some seconds: nothing is patched before it is answered. */
export const longRequests = { heldShare: 0.05, holdMs: 3_000, timeoutMs: 15_000 }

/** Resolves when the pod has come into this state. */
export function reached(run: SluiceProcess, pod: string, state: PodState): Promise<RunEvent> {
  return run.seen((event) => event.type === 'podState' && event.pod === pod && event.to === state)
}

/** How each pod ended: such as `{ 'web-2': 'upgraded' }`. A pod's name may come twice, once for its replacement. */
export function outcomes(result: RunResult | undefined): Record<string, PodOutcome[]> {
  const byPod: Record<string, PodOutcome[]> = {}
  for (const { pod, outcome } of result?.pods ?? []) (byPod[pod] ??= []).push(outcome)
  return byPod
}

export interface ServerStanding {
  address: string
  state: 'ready' | 'drain' | 'maint'
  weight: number
}

/** What HAProxy itself says of each server. */
export async function standings({ haproxy }: UpgradeBed): Promise<Record<string, ServerStanding>> {
  const states = await haproxy.states()
  return Object.fromEntries(
    states.map(({ server, address, adminState, weight }) => [
      server,
      { address, state: adminState & 1 ? 'maint' : adminState & 8 ? 'drain' : 'ready', weight },
    ]),
  )
}
