import { systemRandom } from '../../ports/system.ts'
import { imagesOnNodes } from '../../workloads/images-on-nodes.ts'
import type { LeaseHolder } from '../../engine/run.ts'
import { completeFor } from '../printed-commands/complete-commands.ts'
import { completeFailure, completePlan } from '../printed-commands/complete-events.ts'
import type { ExitCode } from '../exit-codes.ts'
import { failureOf } from '../failures.ts'
import { createLogger, logEvent } from '../log.ts'
import { closeInTime } from './close-in-time.ts'
import { performCommand } from '../printed-commands/perform-command.ts'
import { undoneUnnamed } from '../printed-commands/resume-command.ts'
import { printPlan } from './print-plan.ts'
import { processIdentity } from '../process-identity.ts'
import { reportFailure } from '../report-failure.ts'
import { runRequest } from './run-request.ts'
import type { UpgradeDeps, UpgradeOrder } from './run-upgrade.ts'
import type { World } from '../world.ts'

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
  let world: World | undefined
  const complete = completeFor(order, terminal.env, () => world?.namespace)
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
    world = await deps.openWorld()
    const prepared = await deps.prepareRun(runRequest(request, world.namespace, world.settings), {
      client: world.client,
      observation: world.observation,
      loadBalancers: world.loadBalancers,
      queues: world.queues,
      clock: terminal.clock,
      random: systemRandom,
      identity: processIdentity(),
      onEvent(event) {
        if (logger !== undefined) logEvent(logger, event)
      },
    })
    const { plan, holders } = prepared
    const onNodes = await imagesOnNodes(world.client, plan)
    await closeInTime(terminal.clock, () => prepared.close())
    const run = request.undo === undefined ? 'an upgrade' : 'an undo'
    const warnings = [...plan.warnings, ...holders.map((holder) => heldWords(holder, run))]
    const perform = performCommand(order.invocation, flags, terminal.env, undoneUnnamed(request, plan))
    return printPlan(completePlan({ ...plan, imagesOnNodes: onNodes, warnings }, complete), flags, terminal, perform)
  } catch (error) {
    return fail(error)
  } finally {
    await closeInTime(terminal.clock, async () => world?.close())
  }
}
