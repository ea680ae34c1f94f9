import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { parseArgs } from 'node:util'
import { startCluster } from '../test/cluster/cluster.ts'
import { service, statefulSet } from '../test/cluster/manifests.ts'
import { RUNNER, startUpgradeBed } from '../test/cluster/upgrade-bed.ts'
import type { UpgradeBed } from '../test/cluster/upgrade-bed.ts'
import { buildSluice } from './built-sluice.ts'
import { aggregation, sequentialScript } from './by-hand.ts'
import { observePods } from './pods-own.ts'
import { median, printTable } from './table.ts'

/*
 * `npm run bench -- [--rounds N] [--only WAY] [--verbose]` upgrades a StatefulSet of three pods, one pod at a time, under 200 requests/s:
 * by sluice (built, as it is installed), and in two methods in common use. The result is the wall time of the command over the time that
 * the pods themselves needed in that upgrade.
 */

const GOAL = 1.05
/** Each image is used once in the life of a pod: the kubelet holds back an image whose container has ended before (CrashLoopBackOff). */
const IMAGES = ['localhost/app:v2', 'localhost/app:v3', 'localhost/app:v2-again']
const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    /** Runs only this way: sluice, script or aggregation. */
    only: { type: 'string', default: '' },
    /** Prints the events of sluice as they come. */
    verbose: { type: 'boolean', default: false },
  },
})

interface Sample {
  failed: number
  drains: number
  restores: number
  seconds: number
  own: number
}

const built = buildSluice()
const cluster = await startCluster()
const kubeconfig = await cluster.kubeconfigFor({ user: RUNNER })
const allWays: [string, (bed: UpgradeBed, image: string) => Promise<void>][] = [
  ['sluice', sluice],
  ['script: drain, poll, patch, poll, restore', sequentialScript],
  ['drain, 7 s, patch, 2 s aggregation', aggregation],
]
const ways = allWays.filter(([way]) => way.includes(values.only))
const samples = new Map<string, Sample[]>(ways.map(([way]) => [way, []]))
let bed: UpgradeBed | undefined
try {
  for (let round = 0; round < Number(values.rounds); round++) {
    bed = await startBed(`bench-${round}`)
    // The ways take turns to be first.
    const order = ways.map((_, index) => ways[(index + round) % ways.length]!)
    for (const [index, [way, upgrade]] of order.entries()) {
      const sample = await measure(bed, () => upgrade(bed!, IMAGES[index]!))
      samples.get(way)!.push(sample)
      const { seconds, own, failed } = sample
      console.log(`round ${round + 1}  ${way}: ${seconds.toFixed(2)} s, the pods' own ${own.toFixed(2)} s, ${failed} failed`)
    }
    await bed.stop()
    bed = undefined
  }
} finally {
  await bed?.stop()
  await cluster.stop()
  built.remove()
}

console.log('')
const rows = [...samples].map(([way, all]) => ({
  way,
  failed: all.reduce((sum, { failed }) => sum + failed, 0),
  drains: median(all.map(({ drains }) => drains)),
  restores: median(all.map(({ restores }) => restores)),
  seconds: median(all.map(({ seconds }) => seconds)),
  own: median(all.map(({ own }) => own)),
  ratio: median(all.map(({ seconds, own }) => seconds / own)),
}))
printTable(rows, Number(values.rounds))
const [ours, ...others] = rows as [(typeof rows)[number], ...typeof rows]
const rivals = others.filter(({ failed }) => failed === 0)
const isFastest = rivals.every(({ seconds }) => ours.seconds <= seconds)
console.log(`
sluice over the pods' own time: ${ours.ratio.toFixed(3)}; the goal of ${GOAL} is ${ours.ratio <= GOAL ? 'met' : 'NOT met'}.
Of the ways without a failed request it is ${isFastest ? 'the fastest' : 'NOT the fastest'}.`)
process.exitCode = ours.failed > 0 ? 1 : 0

/** Starts a bed in a namespace of its own, since a former namespace takes seconds to go. */
function startBed(name: string): Promise<UpgradeBed> {
  const objects = [statefulSet({ name: 'web', namespace: name, readyAfter: 3 }), service({ name: 'web', namespace: name })]
  return startUpgradeBed(cluster, { name, objects, app: 'web', count: 3 })
}

async function measure(on: UpgradeBed, upgrade: () => Promise<void>): Promise<Sample> {
  const traffic = await on.traffic()
  const observer = await observePods(cluster, on.namespace, on.haproxy)
  const before = on.haproxy.recorder.effects().length
  const startedAt = performance.now()
  await upgrade()
  const seconds = (performance.now() - startedAt) / 1000
  const { inFlightMs, restartMs } = await observer.stop()
  const { failed } = await traffic.stop()
  const effects = on.haproxy.recorder.effects().slice(before)
  const count = (wanted: string): number => effects.filter(({ kind, effective }) => kind === wanted && effective).length
  return { failed, drains: count('drain'), restores: count('ready'), seconds, own: (inFlightMs + restartMs) / 1000 }
}

async function sluice({ configFile, namespace }: UpgradeBed, image: string): Promise<void> {
  const flags = ['-n', namespace, '--config', configFile, '--kubeconfig', kubeconfig, '-o', 'jsonl']
  const args = [built.script, 'upgrade', 'statefulset/web', `app=${image}`, ...flags]
  const child = spawn(process.execPath, args, { stdio: ['ignore', values.verbose ? 'inherit' : 'ignore', 'inherit'] })
  const [code] = (await once(child, 'exit')) as [number | null]
  if (code !== 0) throw new Error(`sluice exited with ${code}`)
}
