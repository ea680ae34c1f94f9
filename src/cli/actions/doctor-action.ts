import { existsSync } from 'node:fs'
import { nearest } from '../../config/nearest.ts'
import { type FindingCode, SEVERITY } from '../../doctor/findings.ts'
import { quote } from '../../library/request/quote.ts'
import { EXIT, type ExitCode } from '../../library/exit-codes.ts'
import type { Sluice } from '../../library/create-sluice.ts'
import type { DoctorReport } from '../../doctor/report.ts'
import type { DoctorFlags } from '../arguments/flags.ts'
import { UsageError } from '../arguments/usage-error.ts'
import { parseWorkloads } from '../arguments/workload-arguments.ts'
import type { CommandContext } from '../commands/context.ts'
import { createColors, useColor } from '../output/color.ts'
import { doctorDocument, doctorLines } from '../output/doctor-view.ts'
import { inertJson } from '../output/inert.ts'
import { failureOf } from '../failures.ts'
import { writingFor } from '../printed-commands/writing.ts'
import { reportFailure } from '../report-failure.ts'
import { codeOf as interruptCode, watchInterrupts } from '../run/interrupts.ts'
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
  const ignore = ignored(flags.ignore)
  const { configPath, readConfig } = await import('../world.ts')
  const file = configPath(flags.config, terminal.env)
  const isNamed = flags.config !== undefined || Boolean(terminal.env['SLUICE_CONFIG'])
  const config = isNamed || existsSync(file) ? await readConfig(file) : undefined
  const stopping = new AbortController()
  const interrupts = watchInterrupts({
    events: terminal.events,
    now: () => terminal.clock.now(),
    exit: (code) => terminal.exit(code),
  })
  interrupts.stopInOrder((cause) => {
    if ('bug' in cause) reportFailure(failureOf(cause.bug, { touched: false }), { verbose: true }, terminal)
    stopping.abort(new Interrupted())
  })
  try {
    return await withSluice(flags, requestTimeoutMs, terminal, (sluice) => look(sluice), config)
  } catch (error) {
    if (error instanceof Interrupted && interrupts.cause !== undefined) return interruptCode(interrupts.cause)
    throw error
  } finally {
    interrupts.dispose()
  }

  async function look(sluice: Sluice): Promise<ExitCode> {
    try {
      const report = await sluice.doctor({ workload: refs, allNamespaces, probe, ignore }, { signal: stopping.signal })
      const write = writingFor({ flags, invocation }, terminal.env)
      if (flags.output === 'json') terminal.out.write(`${inertJson(doctorDocument(report, write), 2)}\n`)
      else {
        const colors = createColors(useColor(flags.color, terminal.env, terminal.out.isTerminal))
        for (const line of doctorLines(report, colors, write)) terminal.out.write(`${line}\n`)
      }
      return codeOf(report, flags.strict === true)
    } finally {
      // `close` resolves once nothing is open, and so after the doctor has removed its probe.
      await sluice.close()
    }
  }
}

/** Throws a UsageError for an unknown code, because a mistyped code would ignore nothing. */
function ignored(given: readonly string[] = []): FindingCode[] {
  const known = Object.keys(SEVERITY)
  const problems = given
    .filter((code) => !known.includes(code))
    .map((code) => {
      const meant = nearest(code, known)
      return `--ignore: there is no finding ${quote(code)}${meant === undefined ? ': docs/doctor.md has all of them' : `: did you mean ${meant}?`}`
    })
  if (problems.length > 0) throw new UsageError(problems)
  return given as FindingCode[]
}

class Interrupted extends Error {}

function codeOf({ outcome }: DoctorReport, strict: boolean): ExitCode {
  if (outcome === 'failed') return EXIT.preflight
  return outcome === 'warning' && strict ? EXIT.failed : EXIT.done
}
