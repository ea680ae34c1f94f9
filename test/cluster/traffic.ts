import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Cluster } from './cluster.ts'
import { tally } from './tally.ts'

export interface TrafficOptions {
  /** The address as seen from the network of the cluster. */
  url: string
  ratePerSecond?: number
  /** The share of requests whose answer the application holds back for `holdMs`. */
  heldShare?: number
  holdMs?: number
  /** The share of requests on a connection of their own. 1 where the load balancer reloads (see the README). */
  freshShare?: number
  /** The timeout is far above the time of an answer on a busy machine, so that only a lost request reaches it. */
  timeoutMs?: number
  /** True where failures belong to the test, such as a negative control or a killed application. The table of versions omits them. */
  expectFailures?: true
}

export interface TrafficCounts {
  requests: number
  failed: number
  /** The failures by kind: a status code such as 503, or ECONNREFUSED, ECONNRESET, EOF, timeout, ... */
  byKind: Record<string, number>
  /** The successful answers, by pod. */
  byPod: Record<string, number>
  byVersion: Record<string, number>
}

export interface TrafficSecond extends TrafficCounts {
  /** The second since the epoch in which the requests were sent. */
  second: number
}

export interface TrafficFailure {
  /** The time when the request was sent, in ms since the epoch. */
  at: number
  kind: string
  pod?: string
  fresh: boolean
  elapsedMs: number
  detail?: string
}

export interface TrafficTotals extends TrafficCounts {
  startedAt: number
  endedAt: number
  bySecond: TrafficSecond[]
  /** The first thousand failures. */
  failures: TrafficFailure[]
  /** The number of requests that left over 20 ms late. This is the fault of the generator, and never counts as a failure. */
  late: number
  maxLateMs: number
  p50Ms: number
  p99Ms: number
  maxMs: number
}

export interface Traffic {
  /** Returns the seconds so far, about two behind the clock. */
  seconds(): TrafficSecond[]
  /** Waits for the requests in flight, and returns the totals. Repeated calls return the totals again. */
  stop(): Promise<TrafficTotals>
}

/** Sends requests at a steady rate, regardless of the answers, until it is stopped. */
export async function startTraffic(cluster: Cluster, options: TrafficOptions): Promise<Traffic> {
  const { url, ratePerSecond = 200, heldShare = 0.1, holdMs = 300, freshShare = 0.5, timeoutMs = 15_000 } = options
  const args = ['-url', url, '-rate', `${ratePerSecond}`, '-held', `${heldShare}`, '-hold', `${holdMs}ms`]
  args.push('-fresh', `${freshShare}`, '-timeout', `${timeoutMs}ms`)
  // The generator ends when its standard input closes, should this process die.
  const child = await cluster.spawn(join(cluster.info.tools, 'traffic'), args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const seconds: TrafficSecond[] = []
  let totals: TrafficTotals | undefined
  const lines = createInterface({ input: child.stdout! })
  lines.on('line', (line) => {
    const { type, ...values } = JSON.parse(line) as { type: 'second' | 'total' } & TrafficTotals & TrafficSecond
    if (type === 'total') totals = values
    else seconds.push(values)
  })
  const closed = once(lines, 'close')
  let stopping: Promise<TrafficTotals> | undefined

  async function stopOnce(): Promise<TrafficTotals> {
    child.kill('SIGTERM')
    await closed
    if (totals === undefined) {
      throw new Error(`the traffic generator ended without totals (exit code ${child.exitCode}, ${child.signalCode})`)
    }
    if (options.expectFailures === undefined) tally({ requests: totals.requests, failed: totals.failed })
    return totals
  }

  return { seconds: () => [...seconds], stop: () => (stopping ??= stopOnce()) }
}
