import { STATEFUL_SET } from '../../workloads/kinds/stateful-set.ts'
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
      reason: 'runs other images',
      images: [{ container: 'app', from: 'r/app:v1', to: 'r/app:v2' }],
      targets: [{ loadBalancer: 'edge', target: 'web/web1', inRotation: true }],
    },
    {
      uid: 'u0',
      name: 'web-0',
      action: 'skip',
      reason: 'runs the wanted images',
      images: [],
      targets: [{ loadBalancer: 'edge', target: 'web/web0', inRotation: false }],
    },
  ],
  window: 1,
  guarantees: [{ loadBalancer: 'edge', adapter: 'haproxy', level: 'G1', meaning: 'once, assuming bounded calls' }],
  warnings: ['web-0 is out of rotation by an operator'],
  refusals: [],
}

export function podResult(fields: Partial<PodResult> & Pick<PodResult, 'pod' | 'outcome'>): PodResult {
  return { uid: `uid-${fields.pod}`, reason: 'because', out: false, phases: {}, ...fields }
}

export function runResult(fields: Partial<RunResult> = {}): RunResult {
  return { run: 'r7', outcome: 'done', reason: 'all pods run the wanted images', pods: [], ...fields }
}

/** An event so many milliseconds after the beginning, which was at noon. */
export function at(atMs: number, body: RunEventBody): RunEvent {
  return { ...body, atMs, wallAt: new Date(Date.parse('2026-03-01T12:00:00Z') + atMs).toISOString() }
}
