import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { connectManyRuns, type EndedRun, type ManyRuns } from '../test/embedded/many-runs.ts'
import { median } from './table.ts'

/*
 * `npm run bench:runs -- [--runs N] [--pods N] [--scope request|namespace] [--own]` compares many concurrent runs in one process, each of
 * one StatefulSet of one namespace, with one run alone in the same process. The cluster is a process of its own.
 * `node --cpu-prof --cpu-prof-dir=DIR bench/runs.ts` makes a profile.
 */

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '100' },
    pods: { type: 'string', default: '10' },
    scope: { type: 'string', default: 'namespace' },
    own: { type: 'boolean', default: false },
    alone: { type: 'string', default: '3' },
  },
})
const runs = Number(values.runs)
const pods = Number(values.pods)
const GOAL = 1.3

interface Cluster {
  url: string
  names: string[]
  servers: { name: string; address: string }[]
}

const script = fileURLToPath(new URL('./many-sets.ts', import.meta.url))
const child = spawn(process.execPath, [script, String(runs), String(pods)], { stdio: ['pipe', 'pipe', 'inherit'] })
const lines = createInterface(child.stdout)
const exited = once(child, 'exit')
const { url, names, servers } = JSON.parse(((await once(lines, 'line')) as [string])[0]) as Cluster
const bed = await connectManyRuns({
  url,
  servers,
  maxUnavailable: 1,
  scope: values.scope === 'request' ? 'request' : 'namespace',
  sharesObservation: !values.own,
})
try {
  const alone: EndedRun[] = []
  // The first round warms up the compiler.
  for (let round = 0; round <= Number(values.alone); round++) {
    const [one] = await upgrade(bed, names.slice(0, 1), `app:v${2 + (round % 2)}`)
    if (round > 0) alone.push(one!)
  }
  const waitedBefore = waitedMs()
  const usedBefore = process.cpuUsage()
  const together = await upgrade(bed, names, 'app:v4')
  const used = process.cpuUsage(usedBefore)
  const waited = waitedMs() - waitedBefore
  const slowest = Math.max(...together.map(({ wallMs }) => wallMs))
  const aloneMs = median(alone.map(({ wallMs }) => wallMs))
  const ratio = slowest / aloneMs
  const cpuMs = (used.user + used.system) / 1_000
  console.log(
    `${runs} runs of ${pods} pods, ${values.own ? 'an observation each' : 'one observation'} by ${values.scope}: the slowest ` +
      `${seconds(slowest)}, the median ${seconds(median(together.map(({ wallMs }) => wallMs)))}, one alone ${seconds(aloneMs)}: ` +
      `${ratio.toFixed(2)} ×; the goal of ${GOAL} is ${ratio <= GOAL ? 'met' : 'NOT met'}. ` +
      `${(cpuMs / (runs * pods)).toFixed(1)} ms of one core a pod, ${(process.resourceUsage().maxRSS / 1_024).toFixed(0)} MB at the peak; ` +
      `its main thread waited ${seconds(waited)} for a processor that others had`,
  )
  const slowestRun = together.find(({ wallMs }) => wallMs === slowest)!
  console.log(
    `beyond what its own pods took to restart and to become ready: the slowest ${seconds(beyondPods(slowestRun))}, ` +
      `the median ${seconds(median(together.map(beyondPods)))}, one alone ${seconds(median(alone.map(beyondPods)))}`,
  )
  const [before, after] = [phasesOf(alone), phasesOf(together)]
  console.log('milliseconds that a pod is in each state, on average, together and alone:')
  for (const [phase, ms] of after)
    console.log(`  ${phase.padEnd(12)} ${ms.toFixed(0).padStart(6)} ${(before.get(phase) ?? 0).toFixed(0).padStart(6)}`)
} finally {
  await bed.close()
  child.stdin.end()
  const [last] = (await once(lines, 'line')) as [string]
  const { mostWatches, cpuMs } = JSON.parse(last) as { mostWatches: number; cpuMs: number }
  console.log(`at most ${mostWatches} watches at the API server; the cluster took ${seconds(cpuMs)} of one core from its start`)
  await exited
}

async function upgrade(many: ManyRuns, which: readonly string[], image: string): Promise<EndedRun[]> {
  const before = many.balancer.changes.length
  const ended = await many.upgrade(which, image)
  const failed = ended.find(({ result }) => result.outcome !== 'done')
  if (failed) throw new Error(`the run of ${failed.name} has ended as ${failed.result.outcome}: ${failed.result.reason}`)
  const effects = many.balancer.changes.length - before
  if (effects !== 2 * which.length * pods) throw new Error(`${effects} effects in place of ${2 * which.length * pods}`)
  return ended
}

/** Returns the time of the run itself: the wall time without the times of its pods, which run one after another. */
function beyondPods({ wallMs, result }: EndedRun): number {
  return result.pods.reduce((left, { phases }) => left - (phases.restarting ?? 0) - (phases.warming ?? 0), wallMs)
}

function phasesOf(ended: readonly EndedRun[]): Map<string, number> {
  const all = ended.flatMap(({ result }) => result.pods.map(({ phases }) => phases))
  const sums = new Map<string, number>()
  for (const phases of all)
    for (const [phase, ms] of Object.entries(phases)) sums.set(phase, (sums.get(phase) ?? 0) + ms / all.length)
  return sums
}

/** Returns the milliseconds in which this thread was ready to run without a processor. */
function waitedMs(): number {
  return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[1]) / 1_000_000
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`
}
