/** One process that runs seeds and tells of them on its standard output, a line a portion. Started by seeds.ts. */
import { createHash } from 'node:crypto'
import { createGuard } from './determinism.ts'
import { sceneOf } from './scene.ts'
import { emptyTally } from './seeds.ts'
import { shareStates } from './shared-states.ts'
import { simulate } from './simulate.ts'

const PORTION = 100
/** One in so many seeds is hashed, to be run again in another process and compared. */
const HASHED = 500

const { from, count, only } = JSON.parse(process.argv[2]!) as { from: number; count: number; only?: number[] }
// Of some 30 errors a seed nobody reads the stack; a replay has it.
Error.stackTraceLimit = 0
// Not where seeds are run once more to compare: that their histories are the same shows that nothing is shared but states.
if (only === undefined) shareStates()
const seeds = only ?? Array.from({ length: count }, (_, index) => from + index)
let tally = emptyTally()
let cpu = process.cpuUsage()

for (const [index, seed] of seeds.entries()) {
  const scene = sceneOf(seed)
  const guard = createGuard((message) => tally.violations.push({ seed, invariant: 'determinism', message }))
  const { history, violations, upgrades, hits, ends } = await simulate(scene, { guard })
  tally.seeds += 1
  tally.upgrades += upgrades
  for (const { level } of scene.balancers.slice(0, 1)) tally.levels[level] = (tally.levels[level] ?? 0) + 1
  for (const name of hits) tally.hits[name] = (tally.hits[name] ?? 0) + 1
  for (const name of ends) tally.ends[name] = (tally.ends[name] ?? 0) + 1
  tally.violations.push(...violations.map(({ invariant, message }) => ({ seed, invariant, message })))
  if (only !== undefined || seed % HASHED === 0)
    tally.hashes[seed] = createHash('sha256').update(JSON.stringify(history)).digest('hex')
  if ((index + 1) % PORTION === 0 || index + 1 === seeds.length) report()
}

function report(): void {
  const { user, system } = process.cpuUsage(cpu)
  cpu = process.cpuUsage()
  console.log(JSON.stringify({ ...tally, cpuMs: (user + system) / 1_000 }))
  tally = emptyTally()
}
