import type { Reason } from '../../reasons/reason.ts'
import type { Sluice } from '../../library/create-sluice.ts'
import { writingFor } from '../printed-commands/writing.ts'
import type { ExitCode } from '../../library/exit-codes.ts'
import { failureOf } from '../failures.ts'
import { createLogger, logEvent } from '../log.ts'
import { closeInTime } from './close-in-time.ts'
import { performCommand } from '../printed-commands/perform-command.ts'
import { undoneUnnamed } from '../printed-commands/resume-command.ts'
import { printPlan } from './print-plan.ts'
import { reportFailure } from '../report-failure.ts'
import { upgradeRequest } from './upgrade-request.ts'
import type { UpgradeDeps, UpgradeOrder } from './run-upgrade.ts'

/** Looks and plans, and changes nothing. A signal may end it at any time. */
export async function runPlan(
  order: Pick<UpgradeOrder, 'request' | 'flags' | 'invocation'>,
  deps: UpgradeDeps,
): Promise<ExitCode> {
  const { terminal } = deps
  const { request, flags } = order
  let sluice: Sluice | undefined
  const write = writingFor(order, terminal.env)
  function fail(error: unknown): ExitCode {
    const failure = failureOf(error, { touched: false, plans: true }, write)
    reportFailure(failure, flags, terminal)
    return failure.code
  }

  // The listeners stay until the process ends: the exit code of Node for a bug would mean "there are changes".
  for (const event of ['uncaughtException', 'unhandledRejection'])
    terminal.events.on(event, (error) => terminal.exit(fail(error)))
  const logger = await createLogger(flags.verbose === true, terminal)
  try {
    sluice = await deps.openSluice()
    const plan = await sluice.plan(upgradeRequest(request), {
      onEvent(event) {
        if (logger !== undefined) logEvent(logger, event, write)
      },
    })
    const command = request.undo === undefined ? 'upgrade' : 'undo'
    const held = plan.holders.map(({ lease, holder }): Reason => ({ code: 'lease-may-be-held', lease, holder, command }))
    const warnings = [...plan.warnings, ...held]
    const { shell: perform } = performCommand(order.invocation, flags, terminal.env, undoneUnnamed(request, plan))
    return printPlan({ ...plan, warnings }, flags, terminal, { perform, write })
  } catch (error) {
    return fail(error)
  } finally {
    await closeInTime(terminal.clock, async () => sluice?.close())
  }
}
