import type { CommandContext } from './commands/context.ts'
import { EXIT, type ExitCode } from './exit-codes.ts'
import type { StatusFlags } from './flags.ts'
import { createColors, useColor } from './output/color.ts'
import { inertJson } from './output/inert.ts'
import { isOpen, needsOperator, statusDocument, statusLines } from './output/status-view.ts'
import { parseWorkloads } from './workload-arguments.ts'

export async function statusAction(args: readonly string[], flags: StatusFlags, { terminal }: CommandContext): Promise<ExitCode> {
  const { refs, requestTimeoutMs } = parseWorkloads(args, flags)
  const { openCluster } = await import('./world.ts')
  const { readStatus } = await import('../engine/status.ts')
  const cluster = await openCluster(flags, requestTimeoutMs, terminal)
  try {
    const { client, namespace } = cluster
    const status = await readStatus({ namespace, refs }, { client, clock: terminal.clock })
    if (flags.output === 'json') terminal.out.write(`${inertJson(statusDocument(namespace, status), 2)}\n`)
    else {
      const colors = createColors(useColor(flags.color, terminal.env, terminal.out.isTerminal))
      for (const line of statusLines(namespace, status, colors)) terminal.out.write(`${line}\n`)
    }
    if (status.workloads.some(needsOperator) || status.unreadable.length > 0) return EXIT.needsOperator
    return status.workloads.some(isOpen) ? EXIT.deadline : EXIT.done
  } finally {
    await cluster.close()
  }
}
