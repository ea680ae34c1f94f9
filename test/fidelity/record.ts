import { parseArgs } from 'node:util'
import { connectCluster, startCluster } from '../cluster/cluster.ts'
import { type Golden, readRecorded, strangers, withRun, writeGolden } from './golden.ts'
import { playReal } from './real-bed.ts'
import { scenarios } from './scenarios.ts'

// Records what a real cluster does: `npm run record -- --runs 10 [--scenario NAME] [--fresh] [--at 8]`.
// SLUICE_KUBERNETES names another version, which gets a folder of its own for those scenarios that differ (`version-facts.ts`).
// What was recorded before stays, unless with --fresh: after a new Kubernetes, or after a change of the scenario.
const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '5' },
    scenario: { type: 'string', multiple: true },
    fresh: { type: 'boolean', default: false },
    /** So many at once. */
    at: { type: 'string', default: '8' },
  },
})
const running = process.env['SLUICE_CLUSTER']
const cluster = running ? await connectCluster(running) : await startCluster({ nodeMonitorGracePeriodMs: 6_000 })
const { kubernetes } = cluster.info
const { gitVersion } = await cluster.api.request('GET', '/version')
const chosen = scenarios.filter(({ name }) => values.scenario?.includes(name) ?? true)
const runs = Array.from({ length: Number(values.runs) }, (_, run) => run)
const begun = new Set<string>()

async function record(name: string, run: number): Promise<void> {
  const scenario = chosen.find((one) => one.name === name)!
  try {
    const trace = await playReal(cluster, scenario, `${name}-${run}`)
    const empty: Golden = { kubernetes: gitVersion, runs: 0, objects: {} }
    const before = values.fresh && !begun.has(name) ? empty : (readRecorded(name, kubernetes) ?? empty)
    begun.add(name)
    const news = Object.entries(strangers(before, trace))
    writeGolden(name, kubernetes, withRun({ ...before, kubernetes: gitVersion }, trace))
    console.log(
      `${name}, run ${before.runs + 1}: ${news.length === 0 ? 'nothing new' : JSON.stringify(Object.fromEntries(news), undefined, 1)}`,
    )
  } catch (error) {
    console.log(`${name} failed: ${(error as Error).stack}`)
    process.exitCode = 1
  }
}

try {
  const together = runs.flatMap((run) => chosen.filter(({ alone }) => !alone).map(({ name }) => ({ name, run })))
  const players = Array.from({ length: Number(values.at) }, async () => {
    for (let next = together.shift(); next !== undefined; next = together.shift()) await record(next.name, next.run)
  })
  await Promise.all(players)
  for (const run of runs) for (const { name } of chosen.filter(({ alone }) => alone)) await record(name, run)
} finally {
  if (running) await cluster.disconnect()
  else await cluster.stop()
}
process.exit()
