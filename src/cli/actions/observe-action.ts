import { createWriteStream, existsSync } from 'node:fs'
import { once } from 'node:events'
import { finished } from 'node:stream/promises'
import { EXIT, type ExitCode } from '../../library/exit-codes.ts'
import type { Cluster } from '../../library/cluster.ts'
import type { Config } from '../../config/config.ts'
import { recordingHeader } from '../../observer/recording.ts'
import type { ObserverSummary } from '../../observer/told.ts'
import { durationFlag } from '../arguments/duration-flag.ts'
import type { ClusterFlags, ObserveFlags } from '../arguments/flags.ts'
import { parseRequestTimeout } from '../arguments/request-timeout.ts'
import { UsageError } from '../arguments/usage-error.ts'
import type { CommandContext } from '../commands/context.ts'
import { failureOf } from '../failures.ts'
import { createLogger } from '../log.ts'
import { logRequests } from '../log-requests.ts'
import { createColors, useColor } from '../output/color.ts'
import { inert } from '../output/inert.ts'
import { jsonView, type ObserveView, textView } from '../output/observe-view.ts'
import { writingFor } from '../printed-commands/writing.ts'
import { reportFailure } from '../report-failure.ts'
import { codeOf as interruptCode, type InterruptCause, watchInterrupts } from '../run/interrupts.ts'
import type { Terminal } from '../terminal.ts'

/** Of a cluster that no context names. */
const CURRENT = 'current'

interface Times {
  requestTimeoutMs?: number
  forMs?: number
  graceMs?: number
  pollMs?: number
  summaryMs?: number
}

export async function observeAction(flags: ObserveFlags, { terminal, invocation }: CommandContext): Promise<ExitCode> {
  const times = parseFlags(flags)
  const config = await readConfigIfAny(flags.config, terminal.env)
  const names = flags.context ?? [CURRENT]
  const { context: contexts = [], ...others } = flags
  const [only] = contexts
  const write = writingFor({ flags: contexts.length === 1 ? { ...others, context: only! } : others, invocation }, terminal.env)
  const colors = createColors(useColor(flags.color, terminal.env, terminal.out.isTerminal))
  const view: ObserveView = flags.output === 'json' ? jsonView(write) : textView(names, colors, write)
  const stopping = new AbortController()
  const interrupts = watchInterrupts({
    events: terminal.events,
    now: () => terminal.clock.now(),
    exit: (code) => terminal.exit(code),
  })
  interrupts.stopInOrder((cause) => {
    if ('bug' in cause) reportFailure(failureOf(cause.bug, { touched: false }), { verbose: true }, terminal)
    stopping.abort()
  })
  const clusters = await openClusters(contexts, others, times, terminal)
  const recording =
    flags.record === undefined
      ? undefined
      : await openRecording(flags.record, ({ message }) =>
          terminal.err.write(`the recording is lost (${inert(message)}); the command goes on without it\n`),
        )
  const timer = times.forMs === undefined ? undefined : terminal.clock.setTimeout(() => stopping.abort(), times.forMs)
  try {
    const { observe } = await import('../../library/observe.ts')
    const print = (lines: readonly string[]): void => {
      for (const line of lines) terminal.out.write(`${line}\n`)
      // It has no end of its own, and nobody is left to tell.
      if (terminal.out.isLost) stopping.abort()
    }
    const { graceMs, pollMs, summaryMs } = times
    const summary = await observe({
      clusters: clusters.map((cluster, index) => ({ name: names[index]!, cluster })),
      ...(config && { config }),
      ...(flags.namespace !== undefined && { namespace: flags.namespace }),
      ...(flags.allNamespaces !== undefined && { allNamespaces: flags.allNamespaces }),
      ...(graceMs !== undefined && { graceMs }),
      ...(pollMs !== undefined && { pollMs }),
      signal: stopping.signal,
      onTold: (told) => print(view.told(told)),
      onStart: (options) => recording?.write(recordingHeader(options)),
      onEvent(event) {
        recording?.write(event)
        if (event.type === 'synced') terminal.err.write(`observing the cluster ${inert(event.cluster)}\n`)
        if (event.type === 'load-balancer-read') terminal.err.write(`observing the load balancer ${inert(event.loadBalancer)}\n`)
      },
      ...(summaryMs !== undefined && { summary: { everyMs: summaryMs, onSummary: (one) => print(view.summary(one)) } }),
      clock: terminal.clock,
    })
    print(view.summary(summary))
    const isRecorded = recording === undefined || (await recording.close())
    return isRecorded ? codeOf(summary, flags.strict === true, interrupts.cause) : EXIT.failed
  } finally {
    terminal.clock.clearTimeout(timer)
    interrupts.dispose()
    await Promise.all(clusters.map((cluster) => cluster.close()))
  }
}

/** Ctrl-C is the usual end. */
export function codeOf({ findings }: ObserverSummary, isStrict: boolean, cause?: InterruptCause): ExitCode {
  const isUsualEnd = cause === undefined || ('signal' in cause && cause.signal === 'SIGINT')
  if (!isUsualEnd) return interruptCode(cause)
  return isStrict && findings.length > 0 ? EXIT.failed : EXIT.done
}

/** Throws a UsageError with everything that is wrong. */
function parseFlags(flags: ObserveFlags): Times {
  const problems: string[] = []
  const requestTimeoutMs = parseRequestTimeout(flags.requestTimeout, problems)
  const duration = (flag: string, text: string | undefined): number | undefined =>
    text === undefined ? undefined : durationFlag(flag, text, 1, problems)
  const [forMs, graceMs] = [duration('--for', flags.for), duration('--grace', flags.grace)]
  const [pollMs, summaryMs] = [duration('--poll', flags.poll), duration('--summary', flags.summary)]
  const { context: contexts = [] } = flags
  if (flags.allNamespaces === true && flags.namespace !== undefined) problems.push('--all-namespaces excludes --namespace')
  if (new Set(contexts).size < contexts.length) problems.push('--context is given twice with the same name')
  if (contexts.length > 1 && (flags.cluster !== undefined || flags.user !== undefined))
    problems.push('--cluster and --user are of one context: several contexts exclude them')
  if (problems.length > 0) throw new UsageError(problems)
  const given = { requestTimeoutMs, forMs, graceMs, pollMs, summaryMs }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}

/** All of them, or none where there is no way to one. */
async function openClusters(
  contexts: readonly string[],
  flags: Omit<ClusterFlags, 'context'> & { verbose?: boolean },
  { requestTimeoutMs }: Times,
  terminal: Terminal,
): Promise<Cluster[]> {
  const logger = await createLogger(flags.verbose === true, terminal)
  const { openCluster } = await import('../world.ts')
  const opened: Cluster[] = []
  try {
    for (const context of contexts.length === 0 ? [undefined] : contexts) {
      const cluster = await openCluster({ ...flags, ...(context !== undefined && { context }) }, requestTimeoutMs, terminal)
      const client = logger === undefined ? cluster.client : logRequests(cluster.client, logger, terminal.clock)
      opened.push({ ...cluster, client })
    }
    return opened
  } catch (error) {
    await Promise.all(opened.map((cluster) => cluster.close()))
    throw error
  }
}

/** A file that was named has to be there. Without one, endpoints are observed without load balancers. */
async function readConfigIfAny(flag: string | undefined, env: NodeJS.ProcessEnv): Promise<Config | undefined> {
  const { configPath, readConfig } = await import('../world.ts')
  const file = configPath(flag, env)
  const isNamed = flag !== undefined || Boolean(env['SLUICE_CONFIG'])
  return isNamed || existsSync(file) ? readConfig(file) : undefined
}

interface Recording {
  write(line: object): void
  /** Resolves with whether all of it is in the file. */
  close(): Promise<boolean>
}

async function openRecording(file: string, onLost: (error: Error) => void): Promise<Recording> {
  const stream = createWriteStream(file)
  let isLost = false
  try {
    await once(stream, 'open')
  } catch (error) {
    throw new UsageError([`--record: ${(error as Error).message}`])
  }
  stream.on('error', (error) => {
    if (!isLost) onLost(error)
    isLost = true
  })
  return {
    write(line) {
      if (!isLost) stream.write(`${JSON.stringify(line)}\n`)
    },
    async close() {
      if (isLost) return false
      stream.end()
      await finished(stream).catch(() => {})
      return !isLost
    },
  }
}
