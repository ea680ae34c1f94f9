import { runSeeds } from '../test/simulation/seeds.ts'
import { parsedInMs } from './json-yardstick.ts'
import { median } from './table.ts'

/*
 * `node bench/simulation.ts [SEEDS]` measures the upgrades that one core simulates in a second of processor time. It also gives the JSON
 * that could be parsed in the time of one upgrade, which hardly depends on the machine.
 */

const seeds = Number(process.argv[2] ?? 2_000)
const speeds = [parsedInMs(), parsedInMs()]
const { upgrades, violations, cpuMs } = await runSeeds({
  from: 1,
  count: seeds,
  jobs: 1,
  onProgress: () => speeds.push(parsedInMs()),
})
const rate = (count: number): string => ((count / cpuMs) * 1_000).toFixed(0)
const kilobytes = ((cpuMs / upgrades) * median(speeds)) / 1_000
console.log(`${seeds} seeds, ${upgrades} upgrades, ${violations.length} violations`)
console.log(`${rate(upgrades)} upgrades and ${rate(seeds)} seeds a second of one core`)
console.log(`an upgrade takes as long as parsing ${kilobytes.toFixed(0)} kB of JSON`)
