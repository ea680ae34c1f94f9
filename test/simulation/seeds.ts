import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type Range, missing, shares } from './ranges.ts'

/** The results of some seeds. */
export interface Tally {
  seeds: number
  upgrades: number
  /** The number of faults and incidents that took effect, by kind. */
  hits: Record<string, number>
  /** The number of processes of sluice, by outcome. */
  ends: Record<string, number>
  /** The number of seeds, by guarantee level. */
  levels: Record<string, number>
  violations: { seed: number; invariant: string; message: string }[]
  /** The hash of the whole history, for some seeds. */
  hashes: Record<number, string>
  /** The processor time of the worker, in milliseconds. */
  cpuMs: number
}

/** The report of a worker process: the results of these seeds. */
export interface Portion extends Range {
  tally: Tally
}

export interface SeedsOptions extends Range {
  /** The number of processes at once; the number of processors unless given. */
  jobs?: number | undefined
  mutation?: string | undefined
  /** More faults at once than in the usual seeds. */
  harsh?: boolean
  /** Ends at the first violation. */
  untilViolation?: boolean
  /** Runs only these seeds, each with its hash, regardless of `from` and `count`. */
  only?: readonly number[]
  /** The portions that were run before. They are counted, and not run again. */
  done?: readonly Portion[]
  onPortion?(portion: Portion): void
  onProgress?(tally: Tally): void
}

export function emptyTally(): Tally {
  return { seeds: 0, upgrades: 0, hits: {}, ends: {}, levels: {}, violations: [], hashes: {}, cpuMs: 0 }
}

export function addTally(sum: Tally, one: Tally): void {
  sum.seeds += one.seeds
  sum.upgrades += one.upgrades
  sum.cpuMs += one.cpuMs
  for (const key of ['hits', 'ends', 'levels'] as const) {
    for (const [name, count] of Object.entries(one[key])) sum[key][name] = (sum[key][name] ?? 0) + count
  }
  sum.violations.push(...one.violations)
  Object.assign(sum.hashes, one.hashes)
}

/** Runs seeds in processes of their own, a portion at a time. */
export async function runSeeds(options: SeedsOptions): Promise<Tally> {
  const { jobs = availableParallelism(), mutation, harsh = false, only, done = [] } = options
  const sum = emptyTally()
  for (const { tally } of done) addTally(sum, tally)
  const left = only?.map((seed) => ({ from: seed, count: 1 })) ?? missing(options, done)
  const stopping = new AbortController()
  await Promise.all(
    shares(left, jobs).map((ranges) =>
      runWorker({ ranges, again: only !== undefined, harsh, mutation }, stopping.signal, (portion) => {
        addTally(sum, portion.tally)
        options.onPortion?.(portion)
        options.onProgress?.(sum)
        if (options.untilViolation === true && sum.violations.length > 0) stopping.abort()
      }),
    ),
  )
  return sum
}

/** The order of a worker process (worker.ts). */
export interface Order {
  ranges: readonly Range[]
  /** True where each seed is hashed and nothing is shared between seeds, for a comparison with another run. */
  again: boolean
  harsh: boolean
}

function runWorker(
  { mutation, ...order }: Order & { mutation: string | undefined },
  signal: AbortSignal,
  onPortion: (portion: Portion) => void,
): Promise<void> {
  // A young generation of 16 MB was collected so often that it took an eighth of the time, and helper threads only take the processor from
  // the next worker. Large pages for Node's code save a seventh, where the system has them.
  const memory = ['--max-semi-space-size=64', '--min-semi-space-size=64', '--single-threaded-gc', '--use-largepages=silent']
  const mutated = mutation === undefined ? [] : ['--import', join(import.meta.dirname, 'mutations/apply.ts')]
  const child = spawn(process.execPath, [...memory, ...mutated, join(import.meta.dirname, 'worker.ts')], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...(mutation === undefined ? {} : { MUTATION: mutation }) },
  })
  // The order goes by standard input: a second run may have thousands of ranges. The exit code reports the death of a worker.
  child.stdin.on('error', () => {})
  child.stdin.end(JSON.stringify(order satisfies Order))
  const stop = (): void => void child.kill('SIGKILL')
  signal.addEventListener('abort', stop)
  process.once('exit', stop)
  createInterface({ input: child.stdout }).on('line', (line) => onPortion(JSON.parse(line) as Portion))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => {
      signal.removeEventListener('abort', stop)
      process.off('exit', stop)
      if (code === 0 || signal.aborted) resolve()
      else reject(new Error(`a worker of the simulation ended with ${code}`))
    })
  })
}
