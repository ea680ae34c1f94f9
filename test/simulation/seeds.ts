import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** What came of some seeds; what a worker process says of each portion of its own. */
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

export interface SeedsOptions {
  from: number
  count: number
  /** Processes at once; as many as there are processors, unless given. */
  jobs?: number | undefined
  mutation?: string | undefined
  /** Ends at the first violation. */
  untilViolation?: boolean
  /** These alone, whatever `from` and `count` say, each with its hash. */
  only?: readonly number[]
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
  const { from, count, jobs = availableParallelism() } = options
  const sum = emptyTally()
  const share = Math.ceil(count / jobs)
  const stopping = new AbortController()
  const parts = Array.from({ length: jobs }, (_, job) => ({
    from: from + job * share,
    count: Math.max(0, Math.min(share, count - job * share)),
  }))
  await Promise.all(
    parts
      .filter((part) => part.count > 0)
      .map((part) =>
        runWorker({ ...options, ...part }, stopping.signal, (tally) => {
          addTally(sum, tally)
          options.onProgress?.(sum)
          if (options.untilViolation === true && sum.violations.length > 0) stopping.abort()
        }),
      ),
  )
  return sum
}

function runWorker(options: SeedsOptions, signal: AbortSignal, onTally: (tally: Tally) => void): Promise<void> {
  const { from, count, mutation, only } = options
  const order = JSON.stringify({ from, count, only })
  // A young generation of 16 MB was collected so often that it took an eighth of the time; threads that help with it only
  // take the processor from the next worker.
  const memory = ['--max-semi-space-size=64', '--min-semi-space-size=64', '--single-threaded-gc']
  const mutated = mutation === undefined ? [] : ['--import', join(import.meta.dirname, 'mutations/apply.ts')]
  const child = spawn(process.execPath, [...memory, ...mutated, join(import.meta.dirname, 'worker.ts'), order], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...(mutation === undefined ? {} : { MUTATION: mutation }) },
  })
  const stop = (): void => void child.kill('SIGKILL')
  signal.addEventListener('abort', stop)
  createInterface({ input: child.stdout }).on('line', (line) => onTally(JSON.parse(line) as Tally))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => {
      signal.removeEventListener('abort', stop)
      if (code === 0 || signal.aborted) resolve()
      else reject(new Error(`a worker of the simulation ended with ${code}`))
    })
  })
}
