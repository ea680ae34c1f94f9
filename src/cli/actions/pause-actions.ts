import { RunError } from '../../engine/errors.ts'
import { RENEW_EVERY_MS } from '../../leases/lease.ts'
import type { Sluice } from '../../library/create-sluice.ts'
import type { GivenOrder, NoOrder } from '../../library/orders.ts'
import { displayName } from '../../pods/workload-id.ts'
import type { Reason, ReasonFields } from '../../reasons/reason.ts'
import type { CommandContext } from '../commands/context.ts'
import { EXIT, type ExitCode } from '../../library/exit-codes.ts'
import type { OrderFlags } from '../arguments/flags.ts'
import { orderOutput, type OrderReport } from '../output/order-view.ts'
import { parseRequest } from '../arguments/request.ts'
import { writingFor } from '../printed-commands/writing.ts'
import { choiceOf } from '../run/upgrade-request.ts'
import { withSluice } from './with-cluster.ts'

export async function pauseAction(args: readonly string[], flags: OrderFlags, context: CommandContext): Promise<ExitCode> {
  return order('pause', args, flags, context, (given) => ({ code: 'pause-given', ...factsOf(given) }))
}

export async function resumeAction(args: readonly string[], flags: OrderFlags, context: CommandContext): Promise<ExitCode> {
  return order('resume', args, flags, context, (given) => {
    const commands = new Set(given.runs.map((run): 'undo' | 'upgrade' => (given.undoes.includes(run) ? 'undo' : 'upgrade')))
    const command = commands.size === 1 ? { command: [...commands][0]! } : {}
    return { code: 'pause-lifted', by: given.by, ...factsOf(given), ...command }
  })
}

function factsOf({ asked, runs, holder, aborted }: GivenOrder): ReasonFields['pause-given'] {
  return {
    asked,
    runs: [...runs],
    ...(holder === undefined ? {} : { holder }),
    renewalMs: RENEW_EVERY_MS,
    aborted: [...aborted],
  }
}

async function order(
  verb: 'pause' | 'resume',
  args: readonly string[],
  flags: OrderFlags,
  { terminal, invocation }: CommandContext,
  reasonOf: (given: GivenOrder) => Reason,
): Promise<ExitCode> {
  const { requestTimeoutMs, ...request } = parseRequest(args, flags, verb)
  return withSluice(flags, requestTimeoutMs, terminal, async (sluice: Sluice) => {
    const given: GivenOrder | NoOrder = await sluice[verb](choiceOf(request))
    const { outcome } = given
    const reason = outcome === 'none' ? nothingOpen(verb, given) : reasonOf(given)
    const { namespace } = sluice.cluster
    const runs = [...given.runs]
    const workloads = given.workloads.map(displayName)
    const report: OrderReport = { order: verb, namespace, workloads, runs, outcome, reason, next: [] }
    // In text output, the error alone is printed.
    if (outcome !== 'none' || flags.output !== 'text')
      terminal.out.write(orderOutput(report, flags.output, writingFor({ flags, invocation }, terminal.env)))
    if (outcome === 'none') throw new RunError('preflight', reason)
    return EXIT.done
  })
}

function nothingOpen(verb: 'pause' | 'resume', { asked, holder }: NoOrder): Reason {
  return { code: 'nothing-to-order', order: verb, asked, ...(holder === undefined ? {} : { holder }) }
}
