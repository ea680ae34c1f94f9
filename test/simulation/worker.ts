/** One process that runs seeds. It reports them on its standard output, a line for each portion. seeds.ts starts it. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createGuard } from './determinism.ts'
import { sceneOf } from './scene.ts'
import type { Range } from './ranges.ts'
import { type Order, type Portion, type Tally, emptyTally } from './seeds.ts'
import { shareStates } from './shared-states.ts'
import { simulate } from './simulate.ts'

const PORTION = 100
/** One seed in this number is hashed, to be run again in another process and compared. */
const HASHED = 500

const { ranges, again, harsh } = JSON.parse(readFileSync(0, 'utf8')) as Order
// The stacks of about 30 errors in a seed are not read. A replay has them.
Error.stackTraceLimit = 0
// A second run does not share states: equal histories show that only states are shared.
if (!again) shareStates()
for (const range of ranges) {
  for (let done = 0; done < range.count; done += PORTION)
    await runPortion({ from: range.from + done, count: Math.min(PORTION, range.count - done) })
}

async function runPortion({ from, count }: Range): Promise<void> {
  const tally = emptyTally()
  const cpu = process.cpuUsage()
  for (let seed = from; seed < from + count; seed++) await runSeed(seed, tally)
  const { user, system } = process.cpuUsage(cpu)
  tally.cpuMs = (user + system) / 1_000
  console.log(JSON.stringify({ from, count, tally } satisfies Portion))
}

async function runSeed(seed: number, tally: Tally): Promise<void> {
  const scene = sceneOf(seed, { harsh })
  const guard = createGuard((message) => tally.violations.push({ seed, invariant: 'determinism', message }))
  const { history, violations, upgrades, hits, ends } = await simulate(scene, { guard })
  tally.seeds += 1
  tally.upgrades += upgrades
  for (const { level } of scene.balancers.slice(0, 1)) tally.levels[level] = (tally.levels[level] ?? 0) + 1
  for (const name of hits) tally.hits[name] = (tally.hits[name] ?? 0) + 1
  for (const name of ends) tally.ends[name] = (tally.ends[name] ?? 0) + 1
  tally.violations.push(...violations.map(({ invariant, message }) => ({ seed, invariant, message })))
  if (again || seed % HASHED === 0) tally.hashes[seed] = createHash('sha256').update(JSON.stringify(history)).digest('hex')
}
