/**
 * `npm run simulate -- --seeds N --from S` runs N seeds. The last line has the result, and the exit code is 1 where a guarantee was broken.
 * With `--record FILE` the command continues where it was ended. `--replay SEED` shows one seed as a timeline. A seed is valid only with
 * its commit, lock file and Node version, so these are printed.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { commandLine } from './command-line.ts'
import { createGuard } from './determinism.ts'
import type { Range } from './ranges.ts'
import { type RunRecord, openRecord } from './record.ts'
import { sceneOf } from './scene.ts'
import { runSeeds } from './seeds.ts'
import { simulate } from './simulate.ts'
import { timeline } from './timeline.ts'

const SHOWN = 20

const USAGE = `usage: npm run simulate -- [--seeds N] [--from S] [--jobs N] [--record FILE] [--harsh] [--until-violation]
       npm run simulate -- --replay SEED [--harsh]
docs/simulation.md says what they do`

const { values, wholeNumber } = commandLine(USAGE, {
  seeds: { type: 'string', default: '1000' },
  from: { type: 'string', default: '1' },
  replay: { type: 'string' },
  jobs: { type: 'string' },
  /** A file that keeps the finished seeds. The command continues from it. */
  record: { type: 'string' },
  mutation: { type: 'string' },
  /** More faults at once than in the usual seeds, which finds rare faults sooner. */
  harsh: { type: 'boolean', default: false },
  'until-violation': { type: 'boolean', default: false },
})

function commit(): string {
  try {
    const hash = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim()
    const changed = execFileSync('git', ['status', '--porcelain', '--untracked-files=no'], { encoding: 'utf8' }).trim() !== ''
    return `commit ${hash}${changed ? ' with changes' : ''}`
  } catch {
    return 'no commit'
  }
}

/** The sources that determine a history. */
const CODE = ['adapters', 'machines', 'sim', 'src', 'test/simulation', 'package-lock.json']

/**
 * Returns a hash of the code, without documents, tests, mutations and the command line. Undefined where the code has uncommitted changes.
 */
function committedCode(): string | undefined {
  try {
    if (execFileSync('git', ['status', '--porcelain', '--', ...CODE], { encoding: 'utf8' }) !== '') return undefined
    const files = execFileSync('git', ['ls-tree', '-r', 'HEAD', '--', ...CODE], { encoding: 'utf8', maxBuffer: 2 ** 26 })
    const run = files.split('\n').filter((line) => !/\.(test\.ts|md)$|\t(src\/cli|test\/simulation\/mutations)\//.test(line))
    return createHash('sha256').update(run.join('\n')).digest('hex').slice(0, 16)
  } catch {
    return undefined
  }
}

/** Opens the record. Seeds of two versions of the code do not form one run. */
function recordOf(file: string, range: Range): RunRecord {
  const code = committedCode()
  if (values.mutation !== undefined || harsh || code === undefined) {
    console.error(
      `--record ${file}: only for the usual seeds of code as it is committed, and this is ${values.mutation ?? (harsh ? '--harsh' : commit())}`,
    )
    process.exit(2)
  }
  try {
    return openRecord(file, { code, node: process.version, ...range })
  } catch (error) {
    console.error(`--record ${file}: ${(error as Error).message}`)
    process.exit(2)
  }
}

function table(title: string, counts: Record<string, number>): void {
  console.log(title)
  for (const [name, count] of Object.entries(counts).sort(([a], [b]) => (a < b ? -1 : 1)))
    console.log(`  ${name.padEnd(24)} ${String(count).padStart(9)}`)
}

// At its end by a signal, the program takes its workers with it. They would otherwise finish their portion.
process.once('SIGINT', () => process.exit(130))
process.once('SIGTERM', () => process.exit(143))

const { harsh } = values
if (values.replay !== undefined) {
  const seed = wholeNumber('replay', values.replay, 0)
  const violations: { invariant: string; message: string }[] = []
  const scene = sceneOf(seed, { harsh })
  const guard = createGuard((message) => violations.push({ invariant: 'determinism', message }))
  const result = await simulate(scene, { guard, withFaultDetails: true })
  violations.push(...result.violations)
  console.log(`seed ${seed}, ${commit()}, Node ${process.version}\n${JSON.stringify(scene)}\n`)
  console.log(timeline(result.history))
  for (const { invariant, message } of violations) console.log(`\n${invariant}: ${message}`)
  console.log(`\n1 seeds, ${result.upgrades} upgrades, ${violations.length} violations`)
  process.exitCode = violations.length > 0 ? 1 : 0
} else {
  const count = wholeNumber('seeds', values.seeds, 1)
  const from = wholeNumber('from', values.from, 0)
  const jobs = values.jobs === undefined ? undefined : wholeNumber('jobs', values.jobs, 1)
  const { mutation } = values
  const record = values.record === undefined ? undefined : recordOf(values.record, { from, count })
  const common = { jobs, mutation, harsh }
  let told = Date.now()
  let shown = 0
  const tally = await runSeeds({
    ...common,
    from,
    count,
    untilViolation: values['until-violation'],
    done: record?.done ?? [],
    onPortion: (portion) => record?.add(portion),
    onProgress({ seeds, violations }) {
      // Violations are shown at once, since a long run may be ended early.
      for (const { seed, invariant, message } of violations.slice(shown, SHOWN))
        console.error(`seed ${seed}: ${invariant}: ${message}`)
      shown = violations.length
      if (Date.now() - told < 10_000) return
      told = Date.now()
      console.error(`${seeds} of ${count} seeds, ${violations.length} violations`)
    },
  })
  const { seeds, upgrades, hits, ends, levels, violations, hashes, cpuMs } = tally
  // The seeds are run again, in fresh processes and in reverse order. The results must be equal.
  const again = Object.keys(hashes).map(Number).toReversed()
  if (violations.length === 0 && again.length > 0) {
    const second = await runSeeds({ ...common, jobs: 1, from: 0, count: again.length, only: again })
    for (const seed of again) {
      if (second.hashes[seed] !== hashes[seed])
        violations.push({ seed, invariant: 'determinism', message: 'a second run in a fresh process had another history' })
    }
  }
  table('faults that took effect (seeds)', hits)
  table('how processes of sluice ended', ends)
  table('guarantee levels (seeds)', levels)
  for (const { seed, invariant, message } of violations.slice(0, SHOWN)) console.log(`seed ${seed}: ${invariant}: ${message}`)
  if (violations.length > SHOWN) console.log(`and ${violations.length - SHOWN} more`)
  if (violations.length > 0) console.log(`npm run simulate -- --replay ${violations[0]!.seed}${harsh ? ' --harsh' : ''}`)
  console.log(
    `${commit()}, Node ${process.version}; ${again.length} seeds run twice; ` +
      `${Math.round((upgrades / cpuMs) * 1_000)} upgrades and ${Math.round((seeds / cpuMs) * 1_000)} seeds a second of one core`,
  )
  console.log(`${seeds} seeds, ${upgrades} upgrades, ${violations.length} violations`)
  process.exitCode = violations.length > 0 ? 1 : 0
}
