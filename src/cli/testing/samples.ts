import type { NextCommand, NextPurpose } from '../printed-commands/next-command.ts'
import { STATEFUL_SET } from '../../workloads/kinds/stateful-set.ts'
import type { ReasonOf } from '../../reasons/reason.ts'
import type { PodResult, RunEvent, RunEventBody, RunResult } from '../../engine/events.ts'
import type { Plan } from '../../plan/plan.ts'

export const samplePlan: Plan = {
  namespace: 'shop',
  workloads: [{ ...STATEFUL_SET, name: 'web', namespace: 'shop' }],
  images: [{ container: 'app', image: 'r/app:v2' }],
  templates: [
    {
      workload: { ...STATEFUL_SET, name: 'web', namespace: 'shop' },
      change: [{ container: 'app', from: 'r/app:v1', to: 'r/app:v2' }],
    },
  ],
  pods: [
    {
      uid: 'u1',
      name: 'web-1',
      action: 'upgrade',
      reason: { code: 'to-upgrade', rotation: 'in', lookedFor: [], waitsForNode: false },
      images: [{ container: 'app', from: 'r/app:v1', to: 'r/app:v2' }],
      targets: [{ loadBalancer: 'edge', target: 'web/web1', inRotation: true }],
    },
    {
      uid: 'u0',
      name: 'web-0',
      action: 'skip',
      reason: { code: 'runs-wanted-images', ready: true },
      images: [],
      targets: [{ loadBalancer: 'edge', target: 'web/web0', inRotation: false }],
    },
  ],
  window: 1,
  guarantees: [{ loadBalancer: 'edge', adapter: 'haproxy', level: 'G1', inFlight: 'exact', disruptsOthers: false }],
  warnings: [{ code: 'min-ready-longer', workload: 'statefulset/web', minReadyMs: 10_000 }],
  refusals: [],
}

export function podResult(fields: Partial<PodResult> & Pick<PodResult, 'pod' | 'outcome'>): PodResult {
  return {
    uid: `uid-${fields.pod}`,
    reason: said('because'),
    traffic: 'asBefore',
    record: 'closed',
    advice: [],
    phases: {},
    ...fields,
  }
}

export function runResult(fields: Partial<RunResult> = {}): RunResult {
  return { run: 'r7', outcome: 'done', reason: said('all pods run the wanted images'), pods: [], ...fields }
}

/** Returns a reason with the words of a test. */
export function said(words: string): ReasonOf<'error'> {
  return { code: 'error', said: words }
}

/** Returns an event so many milliseconds after the start, which is at noon. */
export function at(atMs: number, body: RunEventBody): RunEvent {
  return { ...body, atMs, wallAt: new Date(Date.parse('2026-03-01T12:00:00Z') + atMs).toISOString() }
}

/** Returns a command to run after a run. */
export function nextCommand(to: NextPurpose, shell: string, workload?: string): NextCommand {
  return { to, argv: shell.split(' '), shell, ...(workload === undefined ? {} : { workload }) }
}

export function goOn(shell: string): NextCommand {
  return nextCommand('goOn', shell)
}
