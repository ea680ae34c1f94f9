import type { LeaseHolder } from '../../engine/run.ts'
import type { Sluice } from '../../library/create-sluice.ts'
import { completeFor } from '../printed-commands/complete-commands.ts'
import { completeFailure, completePlan } from '../printed-commands/complete-events.ts'
import type { ExitCode } from '../exit-codes.ts'
import { failureOf } from '../failures.ts'
import { createLogger, logEvent } from '../log.ts'
import { closeInTime } from './close-in-time.ts'
import { performCommand } from '../printed-commands/perform-command.ts'
import { undoneUnnamed } from '../printed-commands/resume-command.ts'
import { printPlan } from './print-plan.ts'
import { reportFailure } from '../report-failure.ts'
import { upgradeRequest } from './upgrade-request.ts'
import type { UpgradeDeps, UpgradeOrder } from './run-upgrade.ts'

/** A Lease is given back at the end of a run. Whether its holder lives shows in seconds, for which a plan does not wait. */
function heldWords({ lease, holder }: LeaseHolder, run: string): string {
  return (
    `the Lease ${lease} is held by ${holder}: where that is at work, ${run} ends with exit code 7; ` +
    'where it was killed, one goes on with what it has left open'
  )
}

/** Looks and plans, touches nothing. A signal may end it anywhere. */
export async function runPlan(
  order: Pick<UpgradeOrder, 'request' | 'flags' | 'invocation'>,
  deps: UpgradeDeps,
): Promise<ExitCode> {
  const { terminal } = deps
  const { request, flags } = order
  let sluice: Sluice | undefined
  const complete = completeFor(order, terminal.env, () => sluice?.cluster.namespace)
  function fail(error: unknown): ExitCode {
    const failure = completeFailure(failureOf(error, { touched: false, plans: true }), complete)
    reportFailure(failure, flags, terminal)
    return failure.code
  }

  // Until the process ends: Node's own code for it is that of a plan with changes.
  for (const event of ['uncaughtException', 'unhandledRejection'])
    terminal.events.on(event, (error) => terminal.exit(fail(error)))
  const logger = await createLogger(flags.verbose === true, terminal)
  try {
    sluice = await deps.openSluice()
    const plan = await sluice.plan(upgradeRequest(request), {
      onEvent(event) {
        if (logger !== undefined) logEvent(logger, event)
      },
    })
    const run = request.undo === undefined ? 'an upgrade' : 'an undo'
    const warnings = [...plan.warnings, ...plan.holders.map((holder) => heldWords(holder, run))]
    const perform = performCommand(order.invocation, flags, terminal.env, undoneUnnamed(request, plan))
    return printPlan(completePlan({ ...plan, warnings }, complete), flags, terminal, perform)
  } catch (error) {
    return fail(error)
  } finally {
    await closeInTime(terminal.clock, async () => sluice?.close())
  }
}
