import { reasonWords } from '../../src/report/words/words.ts'
import type { PodOutcome, PodState, RunEvent, RunResult } from '../../src/engine/events.ts'
import type { SluiceExit, SluiceProcess, UpgradeBed } from './upgrade-bed.ts'

/* Moments of a run for actions of a test, and texts about a run for its messages. */

/** Traffic that keeps every drained pod busy for some seconds: pods are patched only after its answers. */
export const longRequests = { heldShare: 0.05, holdMs: 3_000 }

/**
 * An option for a pod that is deleted while requests are on their way. Measured: on a busy machine, an application that closes its port at
 * SIGTERM has not accepted all connections by then, and resets them.
 */
export const acceptsBeforeItEnds = { preStopSeconds: 1 }

/** Resolves when the pod has come into this state. */
export function reached(run: SluiceProcess, pod: string, state: PodState): Promise<RunEvent> {
  return run.seen((event) => event.type === 'podState' && event.pod === pod && event.to === state)
}

/**
 * Kills a process by SIGKILL, and lets its Lease run out in a second instead of fifteen. The scenarios kill-sluice and takeover test the
 * wait for a whole Lease.
 */
export async function killed(run: SluiceProcess, { cluster, namespace }: UpgradeBed): Promise<SluiceExit> {
  run.child.kill('SIGKILL')
  const exit = await run.exit
  for (const { metadata } of await cluster.api.list('Lease', namespace)) {
    await cluster.api.patch('Lease', metadata.name, namespace, { spec: { leaseDurationSeconds: 1 } })
  }
  return exit
}

/** Returns the outcomes by pod, such as `{ 'web-2': ['upgraded'] }`. A pod and its replacement of the same name have two outcomes. */
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

/** Returns the state of each server as HAProxy reports it. */
export async function standings({ haproxy }: UpgradeBed): Promise<Record<string, ServerStanding>> {
  const states = await haproxy.states()
  return Object.fromEntries(
    states.map(({ server, address, adminState, weight }) => [
      server,
      { address, state: adminState & 1 ? 'maint' : adminState & 8 ? 'drain' : 'ready', weight },
    ]),
  )
}

/** Returns a short description of a run, for the message of a failed test. */
export function story({ events, stdout, stderr }: SluiceExit): string {
  const lines = events.map((event) => {
    // A refused plan comes in the place of events.
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
