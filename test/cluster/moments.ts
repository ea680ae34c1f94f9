import { reasonWords } from '../../src/report/words/words.ts'
import type { PodOutcome, PodState, RunEvent, RunResult } from '../../src/engine/events.ts'
import type { SluiceExit, SluiceProcess, UpgradeBed } from './upgrade-bed.ts'

/* Moments of a run to do something at, and what is said about a run in the end. */

/** Traffic that keeps every drained pod busy for some seconds: nothing is patched before it is answered. */
export const longRequests = { heldShare: 0.05, holdMs: 3_000 }

/**
 * For a pod that is deleted with requests on their way. Measured: on a busy machine an application that closes its port at
 * SIGTERM has not accepted all connections by then, and resets them.
 */
export const acceptsBeforeItEnds = { preStopSeconds: 1 }

/** Resolves when the pod has come into this state. */
export function reached(run: SluiceProcess, pod: string, state: PodState): Promise<RunEvent> {
  return run.seen((event) => event.type === 'podState' && event.pod === pod && event.to === state)
}

/**
 * `kill -9`, and its Lease runs out in a second instead of fifteen: for what comes after a kill. That the next run waits
 * for a whole Lease is what the scenarios kill-sluice and takeover show.
 */
export async function killed(run: SluiceProcess, { cluster, namespace }: UpgradeBed): Promise<SluiceExit> {
  run.child.kill('SIGKILL')
  const exit = await run.exit
  for (const { metadata } of await cluster.api.list('Lease', namespace)) {
    await cluster.api.patch('Lease', metadata.name, namespace, { spec: { leaseDurationSeconds: 1 } })
  }
  return exit
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

/** What a run did, in few lines: for the message of a test that fails. */
export function story({ events, stdout, stderr }: SluiceExit): string {
  const lines = events.map((event) => {
    // A plan that is refused comes in the place of events.
    if (event.type === undefined) return JSON.stringify(event)
    const at = `${(event.atMs / 1000).toFixed(1)} s `
    switch (event.type) {
      case 'podState':
        return `${at}${event.pod}: ${event.to} ${event.waiting ? reasonWords(event.waiting) : ''}`
      case 'podDetail':
        return `${at}${event.pod}: ${reasonWords(event.waiting)}`
      case 'effect':
        return `${at}${event.pod}: ${event.effect} ${event.target} ${event.outcome} ${event.said ?? (event.reason ? reasonWords(event.reason) : '')}`
      case 'podFinished':
        return `${at}${event.result.pod}: ${event.result.outcome}, ${reasonWords(event.result.reason)}`
      case 'finished':
        return `${at}finished: ${event.result.outcome}, ${reasonWords(event.result.reason)}`
      case 'warning':
        return `${at}${reasonWords(event.reason)}`
      default:
        return `${at}${event.type}`
    }
  })
  return `${lines.length > 0 ? lines.join('\n') : stdout}\n${stderr}`
}
