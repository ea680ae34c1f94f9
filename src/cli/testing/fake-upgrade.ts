// A process that upgrades with a made-up engine: `node fake-upgrade.ts SCENARIO [-o FORMAT [aborts]]`. Tests send it signals.
// $REPORT names the file of a report. With $OPEN, the run is still open in the cluster after its end, or, with "unknown", the
// cluster does not answer then. With $PATIENT no limit runs out, so that only other causes end the process.
import { STATEFUL_SET } from '../../workloads/kinds/stateful-set.ts'
import { writeSync } from 'node:fs'
import { EventEmitter, once } from 'node:events'
import { RunError } from '../../engine/errors.ts'
import type { PodOutcome, RunEvent, RunEventBody, RunOutcome } from '../../engine/events.ts'
import { needsOperatorAdvice } from '../../engine/advice.ts'
import { LEDGER_LABEL, ledgerChunks } from '../../journal/ledger.ts'
import type { KubeClient } from '../../kube/client.ts'
import { WorkloadError } from '../../workloads/errors.ts'
import { createFakeApi } from '../../workloads/testing/fake-api.ts'
import { endProcess } from '../end-process.ts'
import type { OutputFormat } from '../arguments/flags.ts'
import { parseReportFiles } from '../run/report-files.ts'
import { runUpgrade } from '../run/run-upgrade.ts'
import { processTerminal } from '../terminal.ts'
import { createFakeSluice, type FakeRun } from './fake-sluice.ts'
import { at, podResult, runResult, samplePlan, said } from './samples.ts'
import type { Refusal } from '../../plan/plan.ts'

const [, , scenario = '', , format = 'text', aborts] = process.argv
const report = process.env['REPORT']?.split(':')
const never = new Promise<never>(() => {})
const wakes = new EventEmitter()
// The timer keeps the process alive, as the watches of a real run do.
const heart = setInterval(() => {}, 1000)
const { setTimeout: startTimer } = globalThis
if (process.env['PATIENT'])
  globalThis.setTimeout = ((callback: () => void, delayMs: number) =>
    startTimer(callback, delayMs < 1_000 ? delayMs : 2 ** 31 - 1)) as typeof setTimeout

const OUTCOMES: Partial<Record<RunOutcome, PodOutcome>> = { done: 'upgraded', failed: 'failed', needsOperator: 'needsOperator' }

const scenarios: Record<string, (emit: (body: RunEventBody) => void) => Promise<RunOutcome>> = {
  done: async () => 'done',
  /** Done, with connections that take long to close. */
  lingering: async () => 'done',
  /** Stops in order when it is interrupted. */
  orderly: async () => {
    await once(wakes, 'interrupt')
    return 'interrupted'
  },
  /** Ignores interrupts. */
  stuck: () => never,
  /** Throws a bug of sluice elsewhere in the process. */
  bug: async () => {
    setTimeout(() => {
      throw new TypeError('undefined is not a pod')
    })
    await once(wakes, 'interrupt')
    return 'interrupted'
  },
  rejection: async () => {
    void Promise.reject(new TypeError('nobody waits for this pod'))
    await once(wakes, 'interrupt')
    return 'done'
  },
  /** Emits events until it is interrupted. */
  chatty: async (emit) => {
    const timer = setInterval(() => emit({ type: 'warning', reason: said('still here') }), 5)
    await once(wakes, 'interrupt')
    clearInterval(timer)
    return 'interrupted'
  },
  /** Emits more than any pipe holds. */
  loud: async (emit) => {
    for (let index = 0; index < 3000; index += 1) emit({ type: 'warning', reason: said('x'.repeat(1000)) })
    // The write goes to the descriptor itself, and proves that output does not block the process. With a log, the descriptor may be full.
    if (process.env['SLUICE_LOG'] === undefined) setTimeout(() => writeSync(2, 'the event loop turns\n'), 0)
    await once(wakes, 'interrupt')
    return 'interrupted'
  },
  /** Has emitted more than any pipe holds, and is done. */
  told: async (emit) => {
    for (let index = 0; index < 3000; index += 1) emit({ type: 'warning', reason: said('x'.repeat(1000)) })
    // By then, only the output is left.
    setTimeout(() => writeSync(2, 'all is told\n'), 200)
    return 'done'
  },
  forbidden: async () => {
    throw new WorkloadError('forbidden', { code: 'not-allowed', verbs: ['patch'], resource: 'pods', namespace: 'shop' })
  },
  failed: async () => 'failed',
  /** The write of the template was refused. */
  late: async () => 'refused',
  operator: async () => 'needsOperator',
  aborted: async (emit) => {
    emit({ type: 'ordered', order: 'abort', by: 'ann@desk' })
    return 'aborted'
  },
  /** Ended, with a template left as it is. */
  edited: async (emit) => {
    emit({ type: 'ordered', order: 'abort', by: 'ann@desk' })
    return 'conflict'
  },
  /** Waits for the end of a pause. */
  resting: async (emit) => {
    emit({ type: 'ordered', order: 'pause', by: 'ann@desk' })
    emit({ type: 'paused', by: 'ann@desk' })
    await once(wakes, 'interrupt')
    return 'interrupted'
  },
  /** Waits for the end of a pause, and ignores interrupts. */
  frozen: async (emit) => {
    emit({ type: 'ordered', order: 'pause', by: 'ann@desk' })
    return never
  },
  /** Continues after a pause. */
  resumed: async (emit) => {
    emit({ type: 'ordered', order: 'pause', by: 'ann@desk' })
    emit({ type: 'ordered', order: 'resume', by: '' })
    await once(wakes, 'interrupt')
    return 'interrupted'
  },
  paused: async (emit) => {
    emit({ type: 'ordered', order: 'pause', by: 'ann@desk' })
    emit({ type: 'paused', by: 'ann@desk' })
    return 'paused'
  },
}

/** Returns a cluster with the record that the abort of the run has left. */
function cluster(open: string | undefined): KubeClient {
  const api = createFakeApi()
  const header = { run: 'r7', workloads: [{ ...STATEFUL_SET, name: 'web', uid: 'w' }], images: [], startedAt: '', chunks: 1 }
  const end = open !== undefined ? {} : { finishedAt: '2026-03-01T12:00:00Z', aborted: { by: 'ann@desk', left: [] } }
  const [data] = ledgerChunks({ header: { ...header, ...end }, entries: new Map() })
  const metadata = { name: 'sluice-run-r7', labels: { [LEDGER_LABEL]: 'r7' } }
  api.put('/api/v1/namespaces/shop/configmaps/sluice-run-r7', { metadata, data })
  return open === 'unknown' ? { ...api.client, get: () => never } : api.client
}

async function prepare(onEvent: (event: RunEvent) => void): Promise<FakeRun> {
  if (scenario === 'preparing') {
    writeSync(2, 'preparing\n')
    return never
  }
  if (scenario === 'renamed') {
    const resolve = { command: 'resolve', pod: 'web-1', namespace: 'shop', traffic: 'in' } as const
    throw new RunError('preflight', {
      code: 'half-done-not-in-config',
      pod: 'web-1',
      place: { loadBalancer: 'edge' },
      resolve,
    })
  }
  const emit = (body: RunEventBody): void => onEvent(at(0, body))
  const refusal: Refusal = {
    code: 'unreadable-journal',
    pod: 'web-1',
    because: said('it must not be'),
    isOnRecord: true,
    resolve: { command: 'resolve', pod: 'web-1', namespace: 'shop', traffic: 'out' },
  }
  const plan = scenario === 'refused' ? { ...samplePlan, refusals: [refusal] } : samplePlan
  emit({ type: 'planned', plan })
  return {
    plan,
    execute: async () => {
      emit({ type: 'started', run: 'r7', epoch: 3, resumed: false, pods: [{ uid: 'u1', pod: 'web-1' }] })
      emit({ type: 'podState', uid: 'u1', pod: 'web-1', from: null, to: 'draining', waiting: said('waits for edge') })
      const outcome = await scenarios[scenario]!(emit)
      const pod = { name: 'web-1', namespace: 'shop' }
      const result = podResult({
        uid: 'u1',
        pod: 'web-1',
        outcome: OUTCOMES[outcome] ?? 'unchanged',
        ...(outcome === 'needsOperator' ? { advice: needsOperatorAdvice({ pod, gone: true, targets: [], former: [] }) } : {}),
      })
      const whole = runResult({ outcome, reason: said(`it was ${outcome}`), pods: [result] })
      emit({ type: 'podFinished', result })
      emit({ type: 'finished', result: whole })
      return whole
    },
    interrupt: (graceMs) => {
      emit({ type: 'interrupting', graceMs })
      wakes.emit('interrupt')
    },
    close: async () => (scenario === 'lingering' ? never : undefined),
  }
}

const sluice = createFakeSluice({ prepare, client: cluster(process.env['OPEN']), close: async () => clearInterval(heart) })

const terminal = processTerminal()
void runUpgrade(
  {
    request: {
      select: { refs: [{ ...STATEFUL_SET, name: 'web' }] },
      images: [],
      overrides: {},
      acceptTemplateDrift: false,
      allowUnbalanced: false,
      retiredLoadBalancers: [],
      graceMs: 5000,
      exitWhenPaused: false,
    },
    aborts: aborts === 'aborts',
    reportFiles: parseReportFiles(report),
    flags: { output: format as OutputFormat, color: 'auto', namespace: 'shop' },
    invocation: { program: 'kubectl sluice', args: ['upgrade', 'sts/web', "app=it's:v2", '-n', 'shop'] },
  },
  { terminal, openSluice: async () => sluice },
).then((code) => endProcess(code, terminal))
