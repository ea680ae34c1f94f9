import { systemRandom } from '../ports/system.ts'
import type { ExitCode } from './exit-codes.ts'
import { failureOf } from './failures.ts'
import { printPlan } from './print-plan.ts'
import { processIdentity } from './process-identity.ts'
import { reportFailure } from './report-failure.ts'
import { runRequest } from './run-request.ts'
import type { UpgradeDeps, UpgradeOrder } from './run-upgrade.ts'
import { withinLimit } from '../kube/within-limit.ts'
import type { World } from './world.ts'

const CLOSE_LIMIT_MS = 2000

/** Looks and plans, touches nothing. A signal may end it anywhere. */
export async function runPlan({ request, flags }: Omit<UpgradeOrder, 'invocation'>, deps: UpgradeDeps): Promise<ExitCode> {
  const { terminal } = deps
  let world: World | undefined
  try {
    world = await deps.openWorld()
    const prepared = await deps.prepareRun(runRequest(request, world.namespace, world.settings), {
      client: world.client,
      loadBalancers: world.loadBalancers,
      clock: terminal.clock,
      random: systemRandom,
      identity: processIdentity(),
      onEvent: () => {},
    })
    await withinLimit(terminal.clock, CLOSE_LIMIT_MS, () => prepared.close())
    return printPlan(prepared.plan, flags, terminal)
  } catch (error) {
    const failure = failureOf(error, { touched: false })
    reportFailure(failure, flags, terminal)
    return failure.code
  } finally {
    await withinLimit(terminal.clock, CLOSE_LIMIT_MS, async () => world?.close())
  }
}
