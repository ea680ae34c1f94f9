import type { Advice } from '../../reasons/advice.ts'
import type { Reason } from '../../reasons/reason.ts'
import type { AccountPhase, PodAccount } from '../../journal/account.ts'
import type { PodRecord, RunRecord } from '../run-record.ts'

const BEGAN_AT_MS = Date.parse('2026-11-21T10:17:53.120Z')

export function at(ms: number): string {
  return new Date(BEGAN_AT_MS + ms).toISOString()
}

export interface SampleOptions {
  pods: number
  /** The number of pods in progress at once. */
  window: number
  /** The numbers of a pod that does not become ready, and of a pod whose restore has no answer. */
  broken?: number
  lost?: number
}

/** A typical run: the given number of pods one after another, each through all phases, with slightly different times. */
export function sampleRecord({ pods: count, window, broken, lost }: SampleOptions): RunRecord {
  const lanes = Array.from({ length: window }, () => 900)
  let stopped = false
  const pods = Array.from({ length: count }, (_, place): PodRecord => {
    const index = count - 1 - place
    const lane = lanes.indexOf(Math.min(...lanes))
    const startMs = lanes[lane]!
    if (stopped)
      return podRecord(index, { ...accountOf(index, startMs, 'waiting'), outcome: 'unchanged', reason: { code: 'not-started' } })
    const account = accountOf(index, startMs, index === broken ? 'broken' : index === lost ? 'lost' : 'plain')
    stopped = index === broken
    // The phases include the time in the queue.
    lanes[lane] = account.phases.reduce((sum, { ms }) => sum + ms, 0) + 40
    return podRecord(index, account)
  })
  const endedAt = at(Math.max(...lanes))
  const failed = pods.find(({ accounts }) => accounts[0]!.outcome === 'failed')
  return {
    run: 'wgnbiszr2y',
    namespace: 'shop',
    workloads: ['statefulset/web'],
    images: [{ container: 'app', image: 'registry.example/shop/app:v2' }],
    startedAt: at(0),
    processes: [
      {
        by: 'ci-runner-7_4711_tqjtfp',
        epoch: 1,
        resumed: false,
        startedAt: at(0),
        endedAt,
        outcome: failed ? 'failed' : 'done',
        reason: failed
          ? { code: 'pods', pods: [{ uid: failed.uid, pod: failed.pod, reason: failed.accounts[0]!.reason! }] }
          : { code: 'counts', upgraded: count, already: 0, left: 0 },
        window,
        guarantees: [
          {
            loadBalancer: 'edge',
            adapter: 'haproxy',
            level: 'G1',
          },
        ],
        warnings: failed ? [{ reason: { code: 'held-after', pod: failed.pod, ending: 'failed' } }] : [],
      },
    ],
    pods,
  }
}

function accountOf(index: number, startMs: number, way: 'plain' | 'lost' | 'broken' | 'waiting'): PodAccount {
  const vary = (ms: number): number => Math.round(ms * (0.7 + ((index * 7919) % 61) / 100))
  const target = `web/web-${index}@${addressOf(index)}:8080`
  const phases: AccountPhase[] = [{ state: 'queued', ms: startMs }]
  const base = { epoch: 1, startedAtMs: BEGAN_AT_MS, phases, effects: [], restarts: [] }
  if (way === 'waiting') return base
  let atMs = startMs
  const phase = (state: string, ms: number, waiting?: Reason): number => {
    phases.push({ state, ms, ...(waiting === undefined ? {} : { waiting }) })
    atMs += ms
    return atMs
  }
  const call = { loadBalancer: 'edge', target, batch: 1, durationMs: vary(40), operation: `${index}`.padStart(4, '0').repeat(8) }
  phase('checking', vary(30))
  const drainedMs = phase('draining', vary(90))
  phase('emptying', vary(1400), { code: 'in-flight', requests: 0 })
  phase('patching', vary(40))
  const drain = { ...call, afterMs: drainedMs, effect: 'drain', outcome: 'applied' } as const
  const image = { from: 'registry.example/shop/app:v1', to: 'registry.example/shop/app:v2' }
  if (way === 'broken') {
    const because = {
      code: 'container-waiting',
      container: 'app',
      waiting: 'ImagePullBackOff',
      said: 'Back-off pulling image',
    } as const
    const reason = { code: 'restart-not-proven', because } as const
    phase('restarting', 14_000, because)
    const entries = [{ loadBalancer: 'edge', target, prior: { state: 'ready' } }]
    const describe = { command: 'kubectl', namespace: 'shop', args: ['describe', 'pod', `web-${index}`] } as const
    const advice: Advice[] = [
      { code: 'stays-out', entries },
      { code: 'see-why', commands: [{ ...describe, args: [...describe.args] }] },
    ]
    return { ...base, effects: [drain], outcome: 'failed', reason, deadline: 'restart', out: true, advice }
  }
  phase('restarting', vary(1250), { code: 'container-not-up' })
  phase('warming', vary(2300), { code: 'endpoints-not-back', slices: ['web-x7k2p'] })
  const restoredMs = phase('restoring', way === 'lost' ? 1900 : vary(80))
  phase('verifying', vary(30))
  phase('closing', vary(25))
  const restore = {
    ...call,
    operation: call.operation.replaceAll('0', 'f'),
    afterMs: restoredMs,
    effect: 'restore',
  } as const
  const answered =
    way === 'lost'
      ? [
          {
            ...restore,
            afterMs: restoredMs - 1500,
            outcome: 'ambiguous' as const,
            reason: {
              code: 'load-balancer-error',
              adapter: 'edge',
              kind: 'ambiguous',
              said: 'edge: no answer in 10s; bytes had left',
            } as const,
          },
          { ...restore, outcome: 'confirmed' as const, said: `${target}: ready` },
        ]
      : [{ ...restore, outcome: 'applied' as const }]
  return {
    ...base,
    effects: [drain, ...answered],
    restarts: [
      {
        container: 'app',
        image,
        containerId: { from: idOf(index, 1), to: idOf(index, 2) },
        imageId: { from: '4ceffbbb1234', to: '9b1de0c0ffee' },
      },
    ],
    outcome: 'upgraded',
    reason: { code: 'upgraded', rotation: 'in' },
    proof: 'witness',
    out: false,
  }
}

function podRecord(index: number, account: PodAccount): PodRecord {
  const target = `web/web-${index}@${addressOf(index)}:8080`
  return {
    uid: `0f0e0d0c-0b0a-4000-8000-${String(index).padStart(12, '0')}`,
    pod: `web-${index}`,
    node: `node-${index % 5}`,
    images: [{ container: 'app', from: 'registry.example/shop/app:v1', to: 'registry.example/shop/app:v2' }],
    targets: [{ loadBalancer: 'edge', target, prior: { state: 'ready', weight: 100 } }],
    accounts: [account],
  }
}

function addressOf(index: number): string {
  return `10.244.${Math.floor(index / 250)}.${(index % 250) + 2}`
}

function idOf(index: number, start: number): string {
  return ((index + 1) * 0x9e3779b1 * start).toString(16).padEnd(12, '7').slice(0, 12)
}
