import type { CommandContext } from '../commands/context.ts'
import { writingFor } from '../printed-commands/writing.ts'
import { EXIT, type ExitCode } from '../../library/exit-codes.ts'
import type { StatusFlags } from '../arguments/flags.ts'
import { createColors, useColor } from '../output/color.ts'
import { inertJson } from '../output/inert.ts'
import { isOpen, needsOperator, statusDocument, statusLines } from '../output/status-view.ts'
import { withSluice } from './with-cluster.ts'
import { parseWorkloads } from '../arguments/workload-arguments.ts'

export async function statusAction(
  args: readonly string[],
  flags: StatusFlags,
  { terminal, invocation }: CommandContext,
): Promise<ExitCode> {
  const { refs, requestTimeoutMs } = parseWorkloads(args, flags)
  return withSluice(flags, requestTimeoutMs, terminal, async (sluice) => {
    const { namespace } = sluice.cluster
    const status = await sluice.status({ workload: refs })
    const write = writingFor({ flags, invocation }, terminal.env)
    if (flags.output === 'json') terminal.out.write(`${inertJson(statusDocument(namespace, status, write), 2)}\n`)
    else {
      const colors = createColors(useColor(flags.color, terminal.env, terminal.out.isTerminal))
      for (const line of statusLines(namespace, status, colors, write)) terminal.out.write(`${line}\n`)
    }
    if (status.workloads.some(needsOperator) || status.unreadable.length > 0) return EXIT.needsOperator
    return status.workloads.some(isOpen) ? EXIT.deadline : EXIT.done
  })
}
