import { createAccount } from '../engine/account.ts'
import type { RunEvent, RunResult } from '../engine/events.ts'
import type { Plan } from '../plan/plan.ts'
import { displayName } from '../pods/workload-id.ts'
import type { PodRecord, RunRecord } from './run-record.ts'

/** Collects the events of a run for its report. */
export interface Recorder {
  onEvent(event: RunEvent): void
  /** The record as of now; `result` is given at the end of the run. */
  record(now: { by: string; at: Date; result: Pick<RunResult, 'outcome' | 'reason'> }): RunRecord
}

export function createRecorder(): Recorder {
  const account = createAccount()
  const targets = new Map<string, PodRecord['targets']>()
  const names = new Map<string, string>()
  let plan: Plan | undefined
  let run = ''
  let began: { atMs: number; wallAtMs: number } | undefined

  return {
    onEvent(event) {
      began ??= { atMs: event.atMs, wallAtMs: Date.parse(event.wallAt) }
      account.note(event)
      if (event.type === 'planned') plan = event.plan
      else if (event.type === 'started') run = event.run
      else if (event.type === 'podState') names.set(event.uid, event.pod)
      else if (event.type === 'podFinished' && event.result.targets) targets.set(event.result.uid, event.result.targets)
    },
    record({ by, at, result }) {
      const startedAtMs = began?.wallAtMs ?? at.getTime()
      const process = account.process({ by, endedAt: at.toISOString(), outcome: result.outcome, reason: result.reason })
      const told = account.pods(at.getTime() - startedAtMs + (began?.atMs ?? 0))
      const planned = new Map(plan?.pods.map((pod) => [pod.uid, pod]))
      const uids = new Set([...planned.keys(), ...told.keys()])
      return {
        run,
        namespace: plan?.namespace ?? '',
        workloads: plan?.workloads.map(displayName) ?? [],
        images: plan?.images ?? [],
        ...(plan?.undoes === undefined ? {} : { undoes: plan.undoes.run }),
        startedAt: new Date(startedAtMs).toISOString(),
        processes: [process],
        pods: Array.from(uids, (uid): PodRecord => {
          const known = planned.get(uid)
          const own = told.get(uid)
          return {
            uid,
            pod: known?.name ?? names.get(uid) ?? uid,
            ...(known?.node === undefined ? {} : { node: known.node }),
            images: known?.images ?? [],
            targets: targets.get(uid) ?? known?.targets.map(({ loadBalancer, target }) => ({ loadBalancer, target })) ?? [],
            accounts: own ? [own] : [],
            ...(known?.action === 'skip' ? { untold: { outcome: 'skipped', reason: known.reason } } : {}),
            ...(known?.action === 'upgrade'
              ? { untold: { outcome: 'unchanged', reason: { code: 'not-started' } as const } }
              : {}),
          }
        }),
      }
    },
  }
}
