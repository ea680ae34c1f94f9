import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { kubectlFor, kubectlIsHere } from '../test/embedded/kubectl.ts'
import { mostDrained } from '../test/embedded/effect-log.ts'
import { type ScaleBed, type ScaleRun, startScaleBed } from '../test/embedded/scale-bed.ts'
import { runMeasured } from '../test/embedded/usage.ts'
import { buildSluice } from './built-sluice.ts'
import { parsedInMs } from './json-yardstick.ts'
import { median } from './table.ts'

/*
 * `npm run bench:scale -- [--pods N] [--window N]` measures a built sluice against the embedded cluster over HTTP and a real HAProxy: the
 * processor time and memory for a pod, the upgrade's time beyond the needs of the pods, and the time of interactive commands. Times are
 * compared with others of one run.
 */

const { values } = parseArgs({
  options: { pods: { type: 'string', default: '1000' }, window: { type: 'string', default: '100' } },
})
const pods = Number(values.pods)
const window = Number(values.window)
/** The size of a small run, which separates the cost of a process from the cost of a pod. */
const FEW = 100
const READY_AFTER_MS = 3_000
const ROUNDS = 11
const HELP_GOAL_MS = 100

const built = buildSluice()
const speeds = [parsedInMs()]
try {
  startup()
  const small = await withBed(FEW, (bed) => upgrade(bed, FEW))
  await withBed(pods, async (bed) => {
    const large = await upgrade(bed, pods)
    report(small, large)
    await reading(bed)
  })
} finally {
  built.remove()
}

function startup(): void {
  const help: number[] = []
  const bare: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    bare.push(timed(['-e', '0']))
    help.push(timed([built.script, '--help']))
  }
  const ms = median(help)
  console.log(
    `--help: ${ms.toFixed(0)} ms, ${(ms / median(bare)).toFixed(2)} × node -e 0 (${median(bare).toFixed(0)} ms); ` +
      `the goal of ${HELP_GOAL_MS} ms is ${ms <= HELP_GOAL_MS ? 'met' : 'NOT met'}`,
  )
}

function timed(args: readonly string[]): number {
  const startedAt = performance.now()
  const { status } = spawnSync(process.execPath, args, { stdio: 'ignore' })
  if (status !== 0) throw new Error(`node ${args.join(' ')} exited with ${status}`)
  return performance.now() - startedAt
}

async function withBed<Result>(count: number, run: (bed: ScaleBed) => Promise<Result>): Promise<Result> {
  const bed = await startScaleBed({ pods: count, readyAfterMs: READY_AFTER_MS })
  try {
    return await run(bed)
  } finally {
    await bed.stop()
  }
}

async function upgrade(bed: ScaleBed, count: number): Promise<ScaleRun> {
  const run = await bed.upgrade(built.script, { image: 'app:v2', maxUnavailable: window })
  speeds.push(parsedInMs())
  if (run.code !== 0) throw new Error(`sluice exited with ${run.code}: ${run.stderr}`)
  if (run.effects.length !== 2 * count) throw new Error(`${run.effects.length} effects in place of ${2 * count}`)
  const ownMs = shortestMs(run.ownMs, window)
  console.log(
    `${count} pods, ${mostDrained(run.effects)} out at most: ${seconds(run.wallMs)}, ` +
      `${(run.wallMs / ownMs).toFixed(3)} × the pods' own ${seconds(ownMs)}; ` +
      `${run.patches.stored / count} PATCHes a pod and ${run.patches.dryRun / count} as a dry run`,
  )
  return run
}

/** Returns the shortest time for the pods in a number of places, one after another without a gap. */
function shortestMs(ownMs: readonly number[], places: number): number {
  const freeAt = Array.from({ length: places }, () => 0)
  for (const ms of ownMs) {
    const next = freeAt.indexOf(Math.min(...freeAt))
    freeAt[next] = freeAt[next]! + ms
  }
  return Math.max(...freeAt)
}

function report(small: ScaleRun, large: ScaleRun): void {
  const perPod = (of: (run: ScaleRun) => number): number => (of(large) - of(small)) / (large.ownMs.length - small.ownMs.length)
  const cpuMs = perPod((run) => run.cpuMs)
  const kilobytes = perPod((run) => run.peakMemoryBytes) / 1_024
  console.log(
    `each pod beyond ${FEW}: ${cpuMs.toFixed(1)} ms of one core, as long as parsing ${((cpuMs * median(speeds)) / 1_000).toFixed(0)} kB of JSON, ` +
      `and ${kilobytes.toFixed(0)} kB of memory at the peak (${(large.peakMemoryBytes / 1_048_576).toFixed(0)} MB in all)`,
  )
}

/** Compares the time of `status` with the time of kubectl for these pods. */
async function reading({ kubeconfig }: ScaleBed): Promise<void> {
  if (!kubectlIsHere) {
    console.log('status: there is no kubectl here to compare with')
    return
  }
  const home = mkdtempSync(join(tmpdir(), 'sluice-bench-kubectl-'))
  try {
    const kubectl = await kubectlFor(kubeconfig, home)
    await kubectl('get', 'pods')
    const ours: number[] = []
    const theirs: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const startedAt = performance.now()
      await kubectl('get', 'pods')
      theirs.push(performance.now() - startedAt)
      ours.push((await runMeasured([built.script, 'status', 'statefulset/web', '--kubeconfig', kubeconfig])).wallMs)
    }
    const [status, get] = [median(ours), median(theirs)]
    console.log(`status: ${status.toFixed(0)} ms, ${(status / get).toFixed(2)} × kubectl get pods (${get.toFixed(0)} ms)`)
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`
}
