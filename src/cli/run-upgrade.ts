import type { RunEvent, RunResult } from '../engine/events.ts'
import type { PreparedRun, RunPorts, RunRequest } from '../engine/run.ts'
import { systemRandom } from '../ports/system.ts'
import { EXIT, exitCodeOfRun, type ExitCode } from './exit-codes.ts'
import { failureOf } from './failures.ts'
import type { OutputFlags } from './flags.ts'
import { abortInterrupted, orderStands } from './abort-interrupted.ts'
import { completeCommands } from './complete-commands.ts'
import { codeOf, watchInterrupts, type InterruptCause, type Interrupts } from './interrupts.ts'
import type { Invocation } from './invocation.ts'
import { isRunOver } from './is-run-over.ts'
import { createLogger, logEvent } from './log.ts'
import { mixedWorkloads } from './mixed-workloads.ts'
import { createRenderer } from './output/create-renderer.ts'
import type { Renderer } from './output/renderer.ts'
import { runReport } from './output/run-report.ts'
import { goOn } from './output/sentences.ts'
import { processIdentity } from './process-identity.ts'
import { reportFailure } from './report-failure.ts'
import type { ReportFile } from './report-files.ts'
import type { ParsedRequest } from './request.ts'
import { resumeCommand } from './resume-command.ts'
import { createRunReporter } from './run-reporter.ts'
import { runRequest } from './run-request.ts'
import type { SharedFlags } from './shared-flags.ts'
import { templateCommands } from './template-command.ts'
import type { Terminal } from './terminal.ts'
import { undoCommands } from './undo-command.ts'
import type { World } from './world.ts'
import { withinLimit } from '../kube/within-limit.ts'

export interface UpgradeOrder {
  request: ParsedRequest
  flags: OutputFlags & SharedFlags
  invocation: Invocation
  /** Where a report of the run goes, whatever its end. */
  reportFiles?: readonly ReportFile[]
  /** An abort that does by itself what was ordered: an aborted run is then what was wanted. */
  aborts?: boolean
}

/** What `upgrade` works with; a test gives an engine of its own. */
export interface UpgradeDeps {
  terminal: Terminal
  openWorld(): Promise<World>
  prepareRun(request: RunRequest, ports: RunPorts): Promise<PreparedRun>
}

/** Long enough for a socket to close, short enough that nobody waits for one that does not. */
const CLOSE_LIMIT_MS = 2000

/** From a parsed command line to an exit code, with all that is shown in between. */
export async function runUpgrade(order: UpgradeOrder, deps: UpgradeDeps): Promise<ExitCode> {
  const { terminal } = deps
  const { flags } = order
  const logger = await createLogger(flags.verbose === true, terminal)
  const renderer = await createRenderer(flags, terminal)
  const resume = resumeCommand(order.invocation, terminal.env)
  const reporter = await createRunReporter(order.reportFiles ?? [], terminal)
  const interrupts = watchInterrupts({
    events: terminal.events,
    now: () => terminal.clock.now(),
    exit: (code, cause, again) => {
      renderer.close()
      if (again) reporter.write({ outcome: 'interrupted', reason: 'stopped at once, with pods under way' })
      if ('bug' in cause) reportFailure(failureOf(cause.bug, { touched: again }), flags, terminal)
      else if (again) terminal.err.write(`${cause.signal} again: stopped at once. ${goOn(isPaused())}\n  ${resume}\n`)
      else terminal.err.write(order.aborts ? abortInterrupted(cause, resume) : `${cause.signal}: nothing was touched\n`)
      terminal.exit(code)
    },
  })

  const events = createEventGate(
    (event) => {
      reporter.onEvent(event)
      if (logger !== undefined) logEvent(logger, event)
    },
    withoutThrowing(renderer.onEvent, (error) => reportFailure(failureOf(error, { touched: true }), flags, terminal)),
  )
  const isPaused = (): boolean => events.order()?.order === 'pause'
  let world: World | undefined
  let prepared: PreparedRun | undefined
  try {
    world = await deps.openWorld()
    const request = runRequest(order.request, world.namespace, world.settings)
    const { client, loadBalancers } = world
    const { clock } = terminal
    prepared = await deps.prepareRun(request, {
      client,
      loadBalancers,
      clock,
      random: systemRandom,
      identity: processIdentity(),
      onEvent: events.take,
    })
    if (prepared.plan.refusals.length > 0) {
      renderer.close()
      const { printPlan } = await import('./print-plan.ts')
      return printPlan(prepared.plan, flags, terminal)
    }
    events.open()
    const startedAt = new Date(clock.wallNow()).toISOString()
    const result = withCommands(await execute(prepared, order.request.graceMs, interrupts, renderer), order)
    const exitCode = finalCode(result, interrupts.cause, order.aborts ?? false)
    const finishedAt = new Date(clock.wallNow()).toISOString()
    const { plan } = prepared
    const warnings = [...events.warnings, ...reporter.write(result)]
    const mixed = mixedWorkloads(result, flags, order.invocation, terminal.env)
    const undo = undoCommands(result, plan, flags, order.invocation, terminal.env)
    const given = events.order()
    const mayBeOver = result.outcome === 'conflict' && given?.order === 'abort'
    const isOver = mayBeOver && (await isRunOver(result.run, plan, { client, clock }))
    const commands = {
      mixed,
      undoCommands: undo,
      templateCommands: isOver ? templateCommands(plan.workloads, flags, order.invocation, terminal.env) : [],
      resumeCommand: isOver ? undefined : resume,
      pausedBy: given?.order === 'pause' ? given.by : undefined,
    }
    renderer.finish(runReport({ result, plan, exitCode, startedAt, finishedAt, warnings, ...commands }))
    return exitCode
  } catch (error) {
    renderer.close()
    const touched = events.runHasStarted()
    const failure = failureOf(error, { touched })
    reportFailure(failure, flags, terminal)
    if (touched) reporter.write({ outcome: 'failed', reason: failure.lines.join(' ') })
    if (order.aborts) terminal.err.write(orderStands(resume))
    else if (touched) terminal.err.write(`${goOn(isPaused())}\n  ${resume}\n`)
    return failure.code
  } finally {
    await withinLimit(terminal.clock, CLOSE_LIMIT_MS, async () => {
      await prepared?.close()
      await world?.close()
    })
    interrupts.dispose()
  }
}

async function execute(prepared: PreparedRun, graceMs: number, interrupts: Interrupts, renderer: Renderer): Promise<RunResult> {
  interrupts.stopInOrder((cause) => {
    for (const line of stopping(cause)) renderer.notice(line)
    prepared.interrupt(graceMs)
  })
  return prepared.execute()
}

/** Its instructions, to be pasted. */
function withCommands(result: RunResult, { flags, invocation }: UpgradeOrder): RunResult {
  const complete = (text: string): string => completeCommands(text, flags, invocation.program)
  const pods = result.pods.map((pod) =>
    pod.instructions === undefined ? pod : { ...pod, instructions: complete(pod.instructions) },
  )
  return { ...result, pods }
}

function stopping(cause: InterruptCause): string[] {
  const next = 'A second signal stops at once; the cluster keeps what a later run needs to go on.'
  if ('signal' in cause) return [`${cause.signal}: stopping in order. ${next}`]
  return [...failureOf(cause.bug, { touched: true }).lines, `Stopping in order. ${next}`]
}

/** A run that sluice's own mistake broke into has not succeeded, whatever the engine made of it. */
function finalCode({ outcome }: RunResult, cause: InterruptCause | undefined, aborts: boolean): ExitCode {
  if (aborts && outcome === 'aborted') return EXIT.done
  const code = exitCodeOfRun(outcome, cause !== undefined && 'signal' in cause ? cause.signal : undefined)
  return code === EXIT.done && cause !== undefined && 'bug' in cause ? codeOf(cause) : code
}

interface EventGate {
  take(event: RunEvent): void
  /** Shows what was held back, and all that follows at once. */
  open(): void
  runHasStarted(): boolean
  /** What somebody has ordered of the run, for as long as it stands. */
  order(): { order: 'pause' | 'abort'; by: string } | undefined
  readonly warnings: readonly string[]
}

/** Holds the events of the preparation back until it is known that there will be a run to show. */
function createEventGate(onEach: (event: RunEvent) => void, show: (event: RunEvent) => void): EventGate {
  const warnings: string[] = []
  let held: RunEvent[] | undefined = []
  let hasStarted = false
  let standing: ReturnType<EventGate['order']>
  return {
    warnings,
    take: (event) => {
      onEach(event)
      if (event.type === 'started') hasStarted = true
      if (event.type === 'ordered') standing = event.order === 'resume' ? undefined : { order: event.order, by: event.by }
      if (event.type === 'warning') warnings.push(event.pod === undefined ? event.message : `${event.pod}: ${event.message}`)
      if (held === undefined) show(event)
      else held.push(event)
    },
    open: () => {
      const early = held ?? []
      held = undefined
      for (const event of early) show(event)
    },
    runHasStarted: () => hasStarted,
    order: () => standing,
  }
}

/** A mistake in the output is told once and must not reach the engine, which calls from the middle of a run. */
function withoutThrowing(show: (event: RunEvent) => void, onError: (error: unknown) => void): (event: RunEvent) => void {
  let isBroken = false
  return (event) => {
    if (isBroken) return
    try {
      show(event)
    } catch (error) {
      isBroken = true
      onError(error)
    }
  }
}
