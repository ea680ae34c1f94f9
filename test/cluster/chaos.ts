import { parseArgs } from 'node:util'
import { startCluster } from './cluster.ts'
import { scenarios } from './scenarios/index.ts'
import { seededRandom } from './scenarios/random.ts'
import type { Scenario, ScenarioRun } from './scenarios/scenario.ts'
import type { UpgradeBed } from './upgrade-bed.ts'

/*
 * `npm run chaos -- [--scenario NAME,NAME] [--runs N] [--seed S]` repeats the scenarios of `npm test` many times on one real cluster. It
 * prints a line for each run and a count at the end. The exit code is 1 where a run failed.
 */

const { values } = parseArgs({
  options: { scenario: { type: 'string' }, runs: { type: 'string' }, seed: { type: 'string' } },
})
const seed = Number(values.seed ?? Date.now() % 1_000_000)
const names = scenarios.map(({ name }) => name)
const asked = values.scenario?.split(',') ?? names
const chosen = scenarios.filter(({ name }) => asked.includes(name))
// A misspelt name must not be omitted silently.
if (asked.some((name) => !names.includes(name)) || Number.isNaN(seed) || Number.isNaN(Number(values.runs ?? 1))) {
  console.error(`usage: npm run chaos -- [--scenario NAME,NAME] [--runs N] [--seed S]\nscenarios: ${names.join(', ')}`)
  process.exit(2)
}

console.log(`seed ${seed}`)
const cluster = await startCluster({ nodeMonitorGracePeriodMs: 60_000 })
let runs = 0
let failures = 0

async function repeat(scenario: Scenario): Promise<void> {
  const count = Number(values.runs ?? scenario.runs)
  let bed: UpgradeBed | undefined
  try {
    for (let index = 0; index < count; index++) {
      if (index % scenario.runsPerBed === 0) {
        await close(bed)
        bed = await scenario.open(cluster, `${scenario.name}-${index}`)
      }
      const startedAt = performance.now()
      const { note, problems } = await attempt(scenario, bed!, index)
      const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
      runs += 1
      console.log(`${scenario.name} ${index + 1}/${count}  ${problems.length === 0 ? 'ok  ' : 'FAIL'}  ${seconds} s  ${note}`)
      if (problems.length === 0) continue
      failures += 1
      for (const problem of problems) console.log(`  ${problem.replaceAll('\n', '\n  ')}`)
      // The remains of a failed run must not count as the fault of the next run.
      if (index + 1 < count && (index + 1) % scenario.runsPerBed !== 0) {
        await close(bed)
        bed = await scenario.open(cluster, `${scenario.name}-${index + 1}`)
      }
    }
  } finally {
    await close(bed)
  }
}

/** Closes a bed. A bed that cannot be closed is removed with the cluster; later runs do not need it. */
async function close(bed: UpgradeBed | undefined): Promise<void> {
  await bed?.stop().catch((error: unknown) => console.log(`clean-up: ${shorten(String(error))}`))
}

/** Runs one attempt. Each run has a random source of its own, so that a run can be repeated by its number. */
async function attempt(scenario: Scenario, bed: UpgradeBed, index: number): Promise<ScenarioRun> {
  try {
    return await scenario.run(bed, seededRandom(seed * 1_000 + index), index)
  } catch (error) {
    return { note: 'broke off', problems: [shorten(error instanceof Error ? (error.stack ?? error.message) : String(error))] }
  }
}

/** Shortens a message, which may hold all output of a process. Its end is the most useful part. */
function shorten(text: string): string {
  return text.length <= 3_000 ? text : `${text.slice(0, 300)}\n...\n${text.slice(-2_600)}`
}

try {
  for (const scenario of chosen) await repeat(scenario)
} finally {
  await cluster.stop()
}
console.log(`${runs} runs, ${failures} failures`)
process.exit(failures === 0 ? 0 : 1)
