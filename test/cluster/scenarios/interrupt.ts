import { setTimeout as sleep } from 'node:timers/promises'
import type { PodState } from '../../../src/engine/events.ts'
import type { SluiceExit, UpgradeBed } from '../upgrade-bed.ts'
import { judge } from './judge.ts'
import { enters } from './kill-sluice.ts'
import type { Random } from './random.ts'
import { printedCommand, runAsPrinted } from './resume.ts'
import type { Scenario, ScenarioRun } from './scenario.ts'
import { exitProblems } from './scenario.ts'
import { openWebBed, RUNS_PER_WEB_BED, watchWebUpgrade } from './web-bed.ts'

/** Requests that keep a drained pod busy for seconds, so that `emptying` can be interrupted. */
const LONG_REQUESTS = { heldShare: 0.1, holdMs: 2_000 }
/** The second of three pods: the first is done by then, and the last has not begun. */
const POD = 'web-1'

export interface Interruption {
  state: PodState
  signal: 'SIGINT' | 'SIGTERM'
  /** The grace for patched pods to come home. Without it, sluice uses its default. */
  grace?: string
  /** True for a second signal while the process obeys the first. */
  twice?: boolean
}

interface Home {
  /** The required outcome of the interrupted pod. */
  outcome: 'unchanged' | 'upgraded' | 'interrupted'
  /** The total number of drains and restores. */
  rounds: number
}

/**
 * Returns the required end of the pod. Before the patch the pod goes back untouched. After it, the pod comes home or is left, as the grace
 * allows. A drain intent that was not yet stored has drained nothing, and only the next run drains.
 */
function homeOf({ state, grace }: Interruption, { events }: SluiceExit): Home {
  const wasDrained = events.some((event) => event.type === 'effect' && event.pod === POD && event.effect === 'drain')
  if (state === 'draining' || state === 'emptying') return { outcome: 'unchanged', rounds: wasDrained ? 2 : 1 }
  return { outcome: grace === undefined ? 'upgraded' : 'interrupted', rounds: 1 }
}

/** Interrupts an upgrade, and then gives the command that sluice has printed to a shell, unchanged. */
export async function runInterruption(bed: UpgradeBed, interruption: Interruption, random: Random): Promise<ScenarioRun> {
  const { state, signal, grace, twice = false } = interruption
  const upgrade = await watchWebUpgrade(bed, state === 'emptying' ? LONG_REQUESTS : {})
  const first = bed.start([...upgrade.command, ...(grace === undefined ? [] : ['--grace', grace])])
  await first.seen(enters(POD, state))
  const delayMs = random.between(0, 50)
  await sleep(delayMs)
  first.child.kill(signal)
  let leftInMs: number | undefined
  if (twice) {
    await first.seen(({ type }) => type === 'interrupting')
    // Two signals in a shorter interval would count as one press.
    await sleep(150)
    const secondAt = performance.now()
    first.child.kill(signal)
    await first.exit
    leftInMs = performance.now() - secondAt
  }
  const exit = await first.exit
  const printed = printedCommand(exit)
  const resumed = printed === undefined ? undefined : await runAsPrinted(bed, printed)
  const { history } = await upgrade.end()
  const { outcome, rounds } = homeOf(interruption, exit)
  return {
    note: `${signal}${twice ? ' twice' : ''} ${delayMs} ms after ${POD} ${state}${grace === undefined ? '' : `, grace ${grace}`}`,
    problems: [
      ...exitProblems(exit, signal === 'SIGINT' ? 130 : 143),
      ...(twice ? judgeHaste(exit, leftInMs!) : judgeOutcomes(exit, outcome)),
      ...(resumed ? exitProblems({ ...exit, ...resumed }, 0) : ['no command to go on with was printed']),
      ...judge(history, { rounds: { [POD]: rounds } }),
    ],
  }
}

function judgeOutcomes({ result, stderr }: SluiceExit, outcome: Home['outcome']): string[] {
  const outcomes = Object.fromEntries((result?.pods ?? []).map((pod) => [pod.pod, pod.outcome]))
  const wanted = { 'web-2': 'upgraded', 'web-1': outcome, 'web-0': 'unchanged' }
  const isOut = result?.pods.some(({ traffic }) => traffic === 'out') ?? false
  return [
    ...(['web-0', 'web-1', 'web-2'] as const)
      .filter((pod) => outcomes[pod] !== wanted[pod])
      .map((pod) => `${pod} ended as ${outcomes[pod]}, not ${wanted[pod]}:\n${stderr}`),
    ...(isOut === (outcome === 'interrupted') ? [] : [`out of rotation afterwards: ${isOut}`]),
    ...(stderr.includes('stopping in order') ? [] : ['it said nothing to the signal']),
  ]
}

/** Judges the haste of the end: the emptying that the first signal ends, or its grace, would take seconds. */
function judgeHaste({ result, stderr }: SluiceExit, leftInMs: number): string[] {
  return [
    ...(leftInMs < 2_000 ? [] : [`it took ${leftInMs} ms to leave`]),
    ...(result === undefined ? [] : ['it went on to its end']),
    ...(stderr.includes('stopped at once') ? [] : [`it did not say that it leaves at once:\n${stderr}`]),
  ]
}

export const interruptions: readonly Interruption[] = [
  { state: 'draining', signal: 'SIGINT' },
  { state: 'emptying', signal: 'SIGTERM' },
  { state: 'restarting', signal: 'SIGINT' },
  { state: 'warming', signal: 'SIGTERM', grace: '1ms' },
  { state: 'restarting', signal: 'SIGINT', twice: true },
]

export const interrupt: Scenario = {
  name: 'interrupt',
  runs: 20,
  runsPerBed: RUNS_PER_WEB_BED,
  open: (cluster, namespace) => openWebBed(cluster, namespace, { readyAfter: 1 }),
  run: (bed, random, index) => runInterruption(bed, interruptions[index % interruptions.length]!, random),
}
