import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type Range, missing, shares } from './ranges.ts'

/** What came of some seeds. */
export interface Tally {
  seeds: number
  upgrades: number
  /** Faults and incidents that took effect, by kind. */
  hits: Record<string, number>
  /** How processes of sluice ended, by outcome. */
  ends: Record<string, number>
  /** By guarantee level: seeds. */
  levels: Record<string, number>
  violations: { seed: number; invariant: string; message: string }[]
  /** Of some seeds, the hash of their whole history. */
  hashes: Record<number, string>
  /** Milliseconds of the worker's processor. */
  cpuMs: number
}

/** What a worker process says: all that came of these seeds. */
export interface Portion extends Range {
  tally: Tally
}

export interface SeedsOptions extends Range {
  /** Processes at once; as many as there are processors, unless given. */
  jobs?: number | undefined
  mutation?: string | undefined
  /** More goes wrong at once than in the usual seeds. */
  harsh?: boolean
  /** Ends at the first violation. */
  untilViolation?: boolean
  /** These alone, whatever `from` and `count` say, each with its hash. */
  only?: readonly number[]
  /** Run before: they are counted, and not run again. */
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

/** Runs seeds in processes of their own, portions of them at a time. */
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

/** What a worker process is told: worker.ts. */
export interface Order {
  ranges: readonly Range[]
  /** Each is hashed, and nothing is shared between them: to be compared with another run. */
  again: boolean
  harsh: boolean
}

function runWorker(
  { mutation, ...order }: Order & { mutation: string | undefined },
  signal: AbortSignal,
  onPortion: (portion: Portion) => void,
): Promise<void> {
  // A young generation of 16 MB was collected so often that it took an eighth of the time; threads that help with it only
  // take the processor from the next worker. Node's code on large pages saves a seventh, where the system has them.
  const memory = ['--max-semi-space-size=64', '--min-semi-space-size=64', '--single-threaded-gc', '--use-largepages=silent']
  const mutated = mutation === undefined ? [] : ['--import', join(import.meta.dirname, 'mutations/apply.ts')]
  const child = spawn(process.execPath, [...memory, ...mutated, join(import.meta.dirname, 'worker.ts')], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...(mutation === undefined ? {} : { MUTATION: mutation }) },
  })
  // By its standard input: where seeds are run once more there may be thousands of ranges. That it has died says its end.
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
