import { existsSync } from 'node:fs'
import { EXIT, type ExitCode } from '../../library/exit-codes.ts'
import type { Cluster } from '../../library/cluster.ts'
import type { ManagerMetrics, ObserveCluster } from '../../library/observe-options.ts'
import type { Config } from '../../config/config.ts'
import { readNamedFile } from '../../kube/read-named-file.ts'
import type { ObservedEvent } from '../../observer/events.ts'
import { recordingHeader } from '../../observer/recording.ts'
import type { ObserverSnapshot, ObserverSummary, Told } from '../../observer/told.ts'
import { nodesUnreadNote } from '../../report/words/observe.ts'
import { durationFlag } from '../arguments/duration-flag.ts'
import type { ObserveFlags } from '../arguments/flags.ts'
import { parseRequestTimeout } from '../arguments/request-timeout.ts'
import { UsageError } from '../arguments/usage-error.ts'
import type { CommandContext } from '../commands/context.ts'
import { failureOf } from '../failures.ts'
import { createLogger } from '../log.ts'
import { logRequests } from '../log-requests.ts'
import { contextsOf } from '../observe/contexts.ts'
import { openRecording } from '../observe/recording-file.ts'
import { type MetricsAddress, metricsAddress } from '../metrics/metrics-address.ts'
import { serveMetrics } from '../observe/serve-metrics.ts'
import { createColors, useColor } from '../output/color.ts'
import { inert } from '../output/inert.ts'
import { isLiveTerminal } from '../output/is-live.ts'
import { jsonView, prefixOf, textView } from '../output/observe-view.ts'
import { writingFor } from '../printed-commands/writing.ts'
import { reportFailure } from '../report-failure.ts'
import { codeOf as interruptCode, type InterruptCause, watchInterrupts } from '../run/interrupts.ts'
import type { Terminal } from '../terminal.ts'

/** The name of the cluster where no context is given. */
const CURRENT = 'current'

interface Asked {
  contexts: string[]
  requestTimeoutMs?: number
  forMs?: number
  graceMs?: number
  pollMs?: number
  summaryMs?: number
  metrics?: MetricsAddress
  managerMetrics?: ManagerMetrics
}

export async function observeAction(flags: ObserveFlags, { terminal, invocation }: CommandContext): Promise<ExitCode> {
  const asked = parseFlags(flags)
  const { contexts } = asked
  const config = await readConfigIfAny(flags.config, terminal.env)
  const names = contexts.length === 0 ? [CURRENT] : contexts
  const { context: _several, ...others } = flags
  const [only] = contexts
  const writingOf = (cluster: string | undefined) => {
    const context = contexts.length > 1 ? cluster : only
    return writingFor({ flags: context === undefined ? others : { ...others, context }, invocation }, terminal.env)
  }
  const write = writingOf(undefined)
  const colors = createColors(useColor(flags.color, terminal.env, terminal.out.isTerminal))
  const view = flags.output === 'json' ? jsonView(writingOf) : textView(names, colors, writingOf)
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
  const isLive = flags.output === 'text' && flags.live && isLiveTerminal(terminal.out, flags.verbose === true, terminal.env)
  const live = isLive ? await openScreen() : undefined
  const say = (line: string): void => (live === undefined ? terminal.err.write(`${inert(line)}\n`) : live.notice(line))
  const clusters = await waysTo(names, asked, flags, terminal, say)
  const recording =
    flags.record === undefined
      ? undefined
      : await openRecording(flags.record, ({ message }) =>
          say(`the recording is lost (${message}); the command goes on without it`),
        )
  const balancers = config?.loadBalancers.map(({ name }) => name) ?? []
  const server = asked.metrics && (await serveMetrics(asked.metrics, balancers, say))
  const timer = asked.forMs === undefined ? undefined : terminal.clock.setTimeout(() => stopping.abort(), asked.forMs)
  let last: (() => ObserverSnapshot) | undefined
  let wasReached = false
  /** Clusters that have pods or Services, or may have some that cannot be read. */
  const notEmpty = new Set<string>()

  async function openScreen() {
    const { createObserveLive } = await import('../output/observe-live.ts')
    return createObserveLive({ out: terminal.out, clock: terminal.clock, colors, write, view, prefix: prefixOf(names) })
  }

  function print(lines: readonly string[]): void {
    for (const line of lines) terminal.out.write(`${line}\n`)
    // The observation would go on without a reader of its output.
    if (terminal.out.isLost) stopping.abort()
  }

  function tell(told: Told): void {
    server?.onTold(told)
    if (live === undefined) print(view.told(told))
    else live.told(told)
  }

  function tellStart(event: ObservedEvent): void {
    if (event.type === 'synced') wasReached = true
    if (event.type === 'pod' || event.type === 'service' || (event.type === 'unread' && event.what !== 'nodes'))
      notEmpty.add(event.cluster)
    // The namespace may be mistyped, which nothing else would tell.
    if (event.type === 'synced' && !notEmpty.has(event.cluster)) say(nothingThereNote(event.cluster, flags))
    if (event.type === 'manager-metrics-unread')
      say(`the metrics of the controller manager cannot be read: ${write.reason(event.because)}`)
    if (event.type === 'unread' && event.what === 'nodes') say(nodesUnreadNote(event, write))
    // The screen shows the clusters and load balancers itself.
    if (live !== undefined) return
    if (event.type === 'synced') say(`observing the cluster ${event.cluster}`)
    if (event.type === 'load-balancer-read') say(`observing the load balancer ${event.loadBalancer}`)
  }

  try {
    const { observe } = await import('../../library/observe.ts')
    const { graceMs, pollMs, summaryMs } = asked
    const summary = await observe({
      clusters,
      ...(config && { config }),
      ...(flags.namespace !== undefined && { namespace: flags.namespace }),
      ...(flags.allNamespaces !== undefined && { allNamespaces: flags.allNamespaces }),
      ...(graceMs !== undefined && { graceMs }),
      ...(pollMs !== undefined && { pollMs }),
      signal: stopping.signal,
      onTold: tell,
      onStart(options, look) {
        last = look.snapshot
        recording?.write(recordingHeader(options))
        server?.begin(look)
        live?.begin(look)
      },
      onEvent(event) {
        recording?.write(event)
        tellStart(event)
      },
      ...(server && { onLag: server.onLag, onWrite: server.onWrite, onLease: server.onLease }),
      ...(summaryMs !== undefined && {
        summary: { everyMs: summaryMs, onSummary: (one) => (live === undefined ? print : live.lines)(view.summary(one)) },
      }),
      clock: terminal.clock,
    })
    live?.close()
    print(view.summary(summary))
    const isRecorded = recording === undefined || (await recording.close())
    if (!isRecorded) return EXIT.failed
    const isUnreached = !wasReached && last!().clusters.every(({ is }) => is === 'unreachable')
    return isUnreached ? EXIT.preflight : codeOf(summary, flags.strict === true, interrupts.cause)
  } finally {
    live?.close()
    terminal.clock.clearTimeout(timer)
    interrupts.dispose()
    await Promise.all([server?.close(), ...clusters.map(({ cluster }) => cluster?.close())])
  }
}

function nothingThereNote(cluster: string, { allNamespaces, namespace }: ObserveFlags): string {
  const where = namespace === undefined ? 'the namespace of its context' : `namespace ${namespace}`
  return `the cluster ${cluster} has no pods and no Services${allNamespaces === true ? '' : ` in ${where}: check the name`}`
}

/** Ctrl-C is the usual end of an observation, so that it is no failure. */
export function codeOf({ findings }: ObserverSummary, isStrict: boolean, cause?: InterruptCause): ExitCode {
  const isUsualEnd = cause === undefined || ('signal' in cause && cause.signal === 'SIGINT')
  if (!isUsualEnd) return interruptCode(cause)
  return isStrict && findings.length > 0 ? EXIT.failed : EXIT.done
}

/** Throws a UsageError that has all mistakes of the flags. */
function parseFlags(flags: ObserveFlags): Asked {
  const problems: string[] = []
  const requestTimeoutMs = parseRequestTimeout(flags.requestTimeout, problems)
  const duration = (flag: string, text: string | undefined): number | undefined =>
    text === undefined ? undefined : durationFlag(flag, text, 1, problems)
  const [forMs, graceMs] = [duration('--for', flags.for), duration('--grace', flags.grace)]
  const [pollMs, summaryMs] = [duration('--poll', flags.poll), duration('--summary', flags.summary)]
  const contexts = contextsOf(flags, problems)
  const [metrics, managerMetrics] = [metricsAddress(flags, problems), managerOf(flags, contexts, problems)]
  if (flags.allNamespaces === true && flags.namespace !== undefined) problems.push('--all-namespaces excludes --namespace')
  if (contexts.length > 1 && (flags.cluster !== undefined || flags.user !== undefined))
    problems.push('--cluster and --user are of one context: several contexts exclude them')
  if (problems.length > 0) throw new UsageError(problems)
  const given = { contexts, requestTimeoutMs, forMs, graceMs, pollMs, summaryMs, metrics, managerMetrics }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as unknown as Asked
}

function managerOf(flags: ObserveFlags, contexts: readonly string[], problems: string[]): ManagerMetrics | undefined {
  const { controllerManagerMetrics: url, controllerManagerCa: caFile, controllerManagerInsecure: isInsecure = false } = flags
  if (url === undefined) {
    if (caFile !== undefined || isInsecure)
      problems.push('--controller-manager-ca and --controller-manager-insecure need --controller-manager-metrics')
    return undefined
  }
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
    problems.push('--controller-manager-metrics: it must be a URL that begins with https:// or http://')
  if (contexts.length > 1) problems.push('--controller-manager-metrics is of one cluster: several contexts exclude it')
  if (caFile !== undefined && isInsecure) problems.push('--controller-manager-ca excludes --controller-manager-insecure')
  try {
    return { url, isInsecure, ...(caFile !== undefined && { ca: readNamedFile(caFile).toString('utf8') }) }
  } catch (error) {
    problems.push(`--controller-manager-ca: ${(error as Error).message}`)
    return undefined
  }
}

/** A single cluster is connected at once, since the command cannot go on without it. Several clusters are connected by `observe`. */
async function waysTo(
  names: readonly string[],
  { contexts, requestTimeoutMs, managerMetrics }: Asked,
  { context: _several, ...flags }: ObserveFlags,
  terminal: Terminal,
  notice: (line: string) => void,
): Promise<ObserveCluster[]> {
  const logger = await createLogger(flags.verbose === true, terminal)
  const { openCluster } = await import('../world.ts')
  async function open(context: string | undefined): Promise<Cluster> {
    const cluster = await openCluster(
      { ...flags, ...(context !== undefined && { context }) },
      requestTimeoutMs,
      terminal,
      (line) => notice(line),
    )
    return logger === undefined ? cluster : { ...cluster, client: logRequests(cluster.client, logger, terminal.clock) }
  }
  const beside = managerMetrics && { managerMetrics }
  if (contexts.length < 2) return [{ name: names[0]!, cluster: await open(contexts[0]), ...beside }]
  return contexts.map((context) => ({ name: context, connect: () => open(context), ...beside }))
}

/** A file that is named must exist. Without a config, endpoints are observed without load balancers. */
async function readConfigIfAny(flag: string | undefined, env: NodeJS.ProcessEnv): Promise<Config | undefined> {
  const { configPath, readConfig } = await import('../world.ts')
  const file = configPath(flag, env)
  const isNamed = flag !== undefined || Boolean(env['SLUICE_CONFIG'])
  return isNamed || existsSync(file) ? readConfig(file) : undefined
}
