import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Cluster } from './cluster.ts'
import { tally } from './tally.ts'

export interface TrafficOptions {
  /** As seen from inside the cluster's network. */
  url: string
  ratePerSecond?: number
  /** Share of requests whose answer the application holds back for `holdMs`. */
  heldShare?: number
  holdMs?: number
  /** Share of requests on a connection of their own. 1 where the load balancer reloads: see the README. */
  freshShare?: number
  /** Far above what a busy machine takes for an answer, so that only a request that is lost runs into it. */
  timeoutMs?: number
  /** Failures belong to the test, a negative control or an application that is killed: the table of versions leaves them out. */
  expectFailures?: true
}

export interface TrafficCounts {
  requests: number
  failed: number
  /** A status code such as 503, or ECONNREFUSED, ECONNRESET, EOF, timeout, ... */
  byKind: Record<string, number>
  /** Successful answers. */
  byPod: Record<string, number>
  byVersion: Record<string, number>
}

export interface TrafficSecond extends TrafficCounts {
  /** Since the epoch, by when the requests were sent. */
  second: number
}

export interface TrafficFailure {
  /** When it was sent, in ms since the epoch. */
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
  /** The first thousand. */
  failures: TrafficFailure[]
  /** Requests that left over 20 ms after their time: the generator's own fault, never counted as failed. */
  late: number
  maxLateMs: number
  p50Ms: number
  p99Ms: number
  maxMs: number
}

export interface Traffic {
  /** The seconds so far, about two behind the clock. */
  seconds(): TrafficSecond[]
  /** Waits for what is in flight and gives the totals; again when asked again. */
  stop(): Promise<TrafficTotals>
}

/** Sends requests at a steady rate whatever comes back, until stopped. */
export async function startTraffic(cluster: Cluster, options: TrafficOptions): Promise<Traffic> {
  const { url, ratePerSecond = 200, heldShare = 0.1, holdMs = 300, freshShare = 0.5, timeoutMs = 15_000 } = options
  const args = ['-url', url, '-rate', `${ratePerSecond}`, '-held', `${heldShare}`, '-hold', `${holdMs}ms`]
  args.push('-fresh', `${freshShare}`, '-timeout', `${timeoutMs}ms`)
  // It ends by itself when its standard input closes, should this process die.
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
