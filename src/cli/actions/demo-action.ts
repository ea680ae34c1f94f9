import { createDemo } from '../../../demo/demo.ts'
import { createIncidentDemo } from '../../../demo/incidents/incident-demo.ts'
import { createIncidentShow } from '../../../demo/view/incident-show.ts'
import { createShow } from '../../../demo/view/show.ts'
import type { CommandContext } from '../commands/context.ts'
import { EXIT, type ExitCode } from '../../library/exit-codes.ts'
import { failureOf } from '../failures.ts'
import type { DemoFlags } from '../arguments/flags.ts'
import { codeOf, watchInterrupts } from '../run/interrupts.ts'
import { createColors, useColor } from '../output/color.ts'
import { quote } from '../../library/request/quote.ts'
import { reportFailure } from '../report-failure.ts'
import { parseReportFiles } from '../run/report-files.ts'
import { UsageError } from '../arguments/usage-error.ts'

/** Plays the demo. No process of the demo outlives it. */
export async function demoAction(flags: DemoFlags, { terminal }: CommandContext): Promise<ExitCode> {
  const pods = Number(flags.pods)
  if (!/^[2-9]$/.test(flags.pods)) throw new UsageError([`--pods: ${quote(flags.pods)} is no number from 2 to 9`])
  if (flags.report !== undefined) parseReportFiles([flags.report])
  const { out, env } = terminal
  const colors = createColors(useColor(flags.color, env, out.isTerminal))
  const show = createShow({
    out,
    colors,
    isLive: out.isTerminal && env['TERM'] !== 'dumb' && !env['CI'],
  })
  const program = process.argv[1]!
  const demo =
    flags.incident === undefined
      ? createDemo({ balancer: flags.loadBalancer, pods, report: flags.report, program, show })
      : createIncidentDemo({ name: flags.incident, program, show: createIncidentShow({ out, colors }) })
  const interrupts = watchInterrupts({
    events: terminal.events,
    now: () => terminal.clock.now(),
    exit: (code) => {
      demo.kill()
      terminal.exit(code)
    },
  })
  const interrupted = new Promise<ExitCode>((resolve) => {
    interrupts.stopInOrder((cause) => {
      show.close()
      // The demo has no -v, so the stack is always printed.
      if ('bug' in cause) reportFailure(failureOf(cause.bug, { touched: false }), { verbose: true }, terminal)
      else terminal.err.write(`${cause.signal}: all its processes end\n`)
      resolve(codeOf(cause))
    })
  })
  try {
    const played = demo.play().then((kept) => (kept ? EXIT.done : EXIT.failed))
    // After an interrupt, the processes of the demo are gone, and its play rejects for that reason.
    played.catch(() => {})
    return await Promise.race([played, interrupted])
  } finally {
    show.close()
    await demo.end()
    interrupts.dispose()
  }
}
