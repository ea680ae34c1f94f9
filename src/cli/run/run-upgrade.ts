import type { Warning } from '../../journal/account.ts'
import type { RunResult } from '../../engine/events.ts'
import type { Sluice } from '../../library/create-sluice.ts'
import type { RunOptions } from '../../library/options.ts'
import type { Run } from '../../library/run.ts'
import type { Plan } from '../../plan/plan.ts'
import { writingFor } from '../printed-commands/writing.ts'
import { closeInTime } from './close-in-time.ts'
import { createEventGate } from './event-gate.ts'
import type { ExitCode } from '../../library/exit-codes.ts'
import { failureOf, type Failure } from '../failures.ts'
import { finalCode } from './final-code.ts'
import { finalReport } from './final-report.ts'
import type { OutputFlags } from '../arguments/flags.ts'
import { watchInterrupts, type InterruptCause } from './interrupts.ts'
import type { Invocation } from '../invocation.ts'
import { isRunOver } from './is-run-over.ts'
import { createLogger, logEvent } from '../log.ts'
import { abortInterrupted, codeOnceOrdered, orderStands } from './order-stands.ts'
import { createRenderer } from '../output/create-renderer.ts'
import { goOn, LIFT, warning } from '../../report/words/events.ts'
import { liftCommand } from '../printed-commands/order-command.ts'
import { reportFailure } from '../report-failure.ts'
import type { ReportFile } from './report-files.ts'
import type { ParsedRequest } from '../arguments/request.ts'
import { resumeCommand, undoneUnnamed } from '../printed-commands/resume-command.ts'
import { createRunReporter } from './run-reporter.ts'
import type { SharedFlags } from '../printed-commands/shared-flags.ts'
import type { Terminal } from '../terminal.ts'
import { untilBroken } from './until-broken.ts'
import { upgradeRequest } from './upgrade-request.ts'
import type { Notice } from '../world.ts'

export interface UpgradeOrder {
  request: ParsedRequest
  flags: OutputFlags & SharedFlags
  invocation: Invocation
  /** The files for the report of the run, whatever its end. */
  reportFiles?: readonly ReportFile[]
  /** True for an abort that carries out its own order. An aborted run is a success then. */
  aborts?: boolean
}

/** The dependencies of `upgrade`. A test provides runs of its own. */
export interface UpgradeDeps {
  terminal: Terminal
  openSluice(notice?: Notice): Promise<Sluice>
  /** Starts another run than that of the request. */
  start?(options: RunOptions): Run
}

/** Runs a parsed command line, shows its progress, and returns the exit code. */
export async function runUpgrade(order: UpgradeOrder, deps: UpgradeDeps): Promise<ExitCode> {
  const { terminal } = deps
  const { flags, aborts = false } = order
  const { clock, env, err } = terminal
  const resume = (): string => resumeCommand(order.invocation, flags, env, undoneUnnamed(order.request, plan)).shell
  let sluice: Sluice | undefined
  let run: Run | undefined
  let plan: Plan | undefined
  const write = writingFor(order, env)
  const failed = (error: unknown, touched: boolean): Failure => failureOf(error, { touched }, write)
  const tell = (failure: Failure): void => reportFailure(failure, flags, terminal)
  const now = (): string => new Date(clock.wallNow()).toISOString()

  // The listeners come before every wait: an abort has just released the signals, and its order stands.
  const interrupts = watchInterrupts({
    events: terminal.events,
    now: () => clock.now(),
    exit: (code, cause) => {
      const untouched = (signal: string): string => `${signal}: nothing was touched. ${goOn(false)}\n  ${resume()}\n`
      if ('signal' in cause) err.write(aborts ? abortInterrupted(cause, resume()) : untouched(cause.signal))
      else {
        tell(failed(cause.bug, false))
        if (aborts) err.write(orderStands(resume()))
      }
      terminal.exit(code)
    },
  })
  const logger = await createLogger(flags.verbose === true, terminal)
  const renderer = await createRenderer(flags, { ...terminal, write })
  const reporter = await createRunReporter(order.reportFiles ?? [], terminal, write)
  const events = createEventGate(
    (event) => {
      reporter.onEvent(event)
      if (logger !== undefined) logEvent(logger, event, write)
    },
    untilBroken(renderer.onEvent, (error) => {
      // Text below a table would disappear with its next frame.
      renderer.close()
      tell(failed(error, true))
    }),
  )
  /** The text below a failure without a report. */
  const next = (): string => {
    const given = events.order()?.order
    if (aborts || given === 'abort') return orderStands(resume())
    const isPaused = given === 'pause'
    const lift = isPaused ? `${LIFT}\n  ${liftCommand(plan!, flags, order.invocation, env).shell}\n` : ''
    return `${lift}${goOn(isPaused)}\n  ${resume()}\n`
  }

  const { promise: cut, resolve: cutShort } = Promise.withResolvers<void>()
  const code = await upgrade().catch(breakOff)
  const closed = closeInTime(clock, async () => sluice?.close())
  await Promise.race([closed, cut])
  return settle(code, () => terminal.exit(code))

  async function upgrade(): Promise<ExitCode> {
    sluice = await deps.openSluice(renderer.notice)
    const { graceMs } = order.request
    run = deps.start?.({ graceMs }) ?? sluice.upgrade(upgradeRequest(order.request), { graceMs })
    const taken = takeEvents(run)
    plan = await run.plan
    if (plan.refusals.length > 0) {
      renderer.close()
      const { printPlan } = await import('./print-plan.ts')
      const refused = printPlan(plan, flags, terminal, { perform: resume(), write })
      if (aborts) err.write(orderStands(resume()))
      return settle(aborts ? codeOnceOrdered(refused) : refused)
    }
    interrupts.stopInOrder(stop, stopAtOnce)
    events.open()
    const startedAt = now()
    const [result] = await Promise.all([run.result, taken])
    const exitCode = settle(finalCode(result, interrupts.cause, aborts))
    const finishedAt = now()
    const unwritten = writeReport(result)
    const given = events.order()
    const mayBeOver = result.outcome === 'conflict' && given?.order === 'abort' ? result.run : undefined
    const isOver =
      mayBeOver !== undefined &&
      (await Promise.race([isRunOver(mayBeOver, plan, { client: sluice.cluster.client, clock }), cut.then(() => false)]))
    const warnings = [...events.warnings, ...unwritten]
    renderer.finish(finalReport({ result, plan, exitCode, startedAt, finishedAt, warnings, given, isOver }, order, env))
    return exitCode
  }

  async function takeEvents({ events: told }: Run): Promise<void> {
    for await (const event of told) events.take(event)
  }

  /** Handles the first interrupt. */
  function stop(cause: InterruptCause): void {
    const lines = 'signal' in cause ? [] : failed(cause.bug, true).lines
    const what = 'signal' in cause ? `${cause.signal}: stopping in order.` : 'Stopping in order.'
    const then = 'A second signal stops at once; the cluster keeps what a later run needs to go on.'
    for (const line of [...lines, `${what} ${then}`]) renderer.notice(line)
    run?.interrupt()
  }

  function stopAtOnce(firstCode: ExitCode, cause: InterruptCause): void {
    writeReport({ outcome: 'interrupted', reason: { code: 'stopped-at-once' } })
    renderer.close()
    if ('bug' in cause) tell(failed(cause.bug, true))
    else err.write(`${cause.signal} again: stopped at once. ${next()}`)
    terminal.exit(firstCode)
  }

  /** Handles a run that could not begin, or broke off without a result. */
  function breakOff(error: unknown): ExitCode {
    const touched = events.runHasStarted()
    const failure = failed(error, touched)
    if (touched) writeReport({ outcome: 'failed', reason: { code: 'error', said: failure.lines.join(' ') } })
    renderer.close()
    tell(failure)
    if (aborts || touched) err.write(next())
    return settle(aborts ? codeOnceOrdered(failure.code) : failure.code)
  }

  function writeReport(ending: Pick<RunResult, 'outcome' | 'reason'>): Warning[] {
    const warnings = reporter.write(ending)
    for (const one of warnings) renderer.notice(warning(one, write))
    return warnings
  }

  /** Settles the exit code. The remaining waits matter to no reader: a signal cuts them short, and does not change the code. */
  function settle(settled: ExitCode, end: () => void = cutShort): ExitCode {
    interrupts.over((cause) => {
      if ('bug' in cause) tell(failed(cause.bug, true))
      end()
    })
    return settled
  }
}
