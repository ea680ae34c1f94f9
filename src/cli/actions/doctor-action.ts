import { existsSync } from 'node:fs'
import { EXIT, type ExitCode } from '../../library/exit-codes.ts'
import type { DoctorReport } from '../../doctor/report.ts'
import type { DoctorFlags } from '../arguments/flags.ts'
import { UsageError } from '../arguments/usage-error.ts'
import { parseWorkloads } from '../arguments/workload-arguments.ts'
import type { CommandContext } from '../commands/context.ts'
import { createColors, useColor } from '../output/color.ts'
import { doctorDocument, doctorLines } from '../output/doctor-view.ts'
import { inertJson } from '../output/inert.ts'
import { writingFor } from '../printed-commands/writing.ts'
import { withSluice } from './with-cluster.ts'

export async function doctorAction(
  args: readonly string[],
  flags: DoctorFlags,
  { terminal, invocation }: CommandContext,
): Promise<ExitCode> {
  const { refs, requestTimeoutMs } = parseWorkloads(args, flags)
  const { allNamespaces = false, probe = false } = flags
  if (allNamespaces && (flags.namespace !== undefined || refs.length > 0))
    throw new UsageError(['--all-namespaces excludes --namespace and workloads, which are of one'])
  const { configPath, readConfig } = await import('../world.ts')
  const file = configPath(flags.config, terminal.env)
  const isNamed = flags.config !== undefined || Boolean(terminal.env['SLUICE_CONFIG'])
  const config = isNamed || existsSync(file) ? await readConfig(file) : undefined
  return withSluice(
    flags,
    requestTimeoutMs,
    terminal,
    async (sluice) => {
      const report = await sluice.doctor({ workload: refs, allNamespaces, probe })
      const write = writingFor({ flags, invocation }, terminal.env)
      if (flags.output === 'json') terminal.out.write(`${inertJson(doctorDocument(report, write), 2)}\n`)
      else {
        const colors = createColors(useColor(flags.color, terminal.env, terminal.out.isTerminal))
        for (const line of doctorLines(report, colors, write)) terminal.out.write(`${line}\n`)
      }
      return codeOf(report, flags.strict === true)
    },
    config,
  )
}

function codeOf({ outcome }: DoctorReport, strict: boolean): ExitCode {
  if (outcome === 'failed') return EXIT.preflight
  return outcome === 'warning' && strict ? EXIT.failed : EXIT.done
}
