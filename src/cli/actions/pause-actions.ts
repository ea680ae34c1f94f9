import { RunError } from '../../engine/errors.ts'
import { RENEW_EVERY_MS } from '../../engine/leases/lease.ts'
import type { Sluice } from '../../library/create-sluice.ts'
import type { GivenOrder, NoOrder } from '../../library/orders.ts'
import { displayName } from '../../pods/workload-id.ts'
import type { CommandContext } from '../commands/context.ts'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import type { OrderFlags } from '../arguments/flags.ts'
import { orderOutput, type OrderReport } from '../output/order-view.ts'
import { parseRequest } from '../arguments/request.ts'
import { choiceOf } from '../run/upgrade-request.ts'
import { withSluice } from './with-cluster.ts'

const NEXT_RENEWAL = `the next renewal of its Lease (${RENEW_EVERY_MS / 1000} s)`

export async function pauseAction(args: readonly string[], flags: OrderFlags, context: CommandContext): Promise<ExitCode> {
  return order('pause', args, flags, context, ({ holder, aborted }) => {
    const next =
      holder !== undefined
        ? `it starts no new pod from ${NEXT_RENEWAL} on, those under way come home; sluice resume goes on`
        : 'no process is at work on it; the one that goes on with it stays paused until sluice resume'
    return `${next}${asBefore(aborted)}`
  })
}

export async function resumeAction(args: readonly string[], flags: OrderFlags, context: CommandContext): Promise<ExitCode> {
  return order('resume', args, flags, context, (given) => {
    const next =
      given.holder !== undefined
        ? `it goes on from ${NEXT_RENEWAL} on; where its process is dead, ${sameCommand(given)} goes on`
        : `no process is at work on it: ${sameCommand(given)} goes on`
    return `the pause by ${given.by} is lifted; ${next}${asBefore(given.aborted)}`
  })
}

function sameCommand({ runs, undoes }: GivenOrder): string {
  const verbs = new Set(runs.map((run) => (undoes.includes(run) ? 'undo ' : 'upgrade ')))
  return `the same ${verbs.size === 1 ? [...verbs][0] : ''}command`
}

function asBefore(aborted: readonly string[]): string {
  return aborted.length === 0 ? '' : `; run ${aborted.join(', ')} is being aborted, as before`
}

async function order(
  verb: 'pause' | 'resume',
  args: readonly string[],
  flags: OrderFlags,
  { terminal }: CommandContext,
  words: (given: GivenOrder) => string,
): Promise<ExitCode> {
  const { requestTimeoutMs, ...request } = parseRequest(args, flags, verb)
  return withSluice(flags, requestTimeoutMs, terminal, async (sluice: Sluice) => {
    const given: GivenOrder | NoOrder = await sluice[verb](choiceOf(request))
    if (given.outcome === 'none')
      throw new RunError('preflight', {
        code: 'nothing-to-order',
        order: verb,
        asked: given.asked,
        ...(given.holder === undefined ? {} : { holder: given.holder }),
      })
    const { namespace } = sluice.cluster
    const runs = [...given.runs]
    const message = `run ${runs.join(', ')} of ${given.asked}: ${words(given)}`
    const workloads = given.workloads.map(displayName)
    const report: OrderReport = { order: verb, namespace, workloads, runs, outcome: 'ordered', message, next: [] }
    terminal.out.write(orderOutput(report, flags.output))
    return EXIT.done
  })
}
