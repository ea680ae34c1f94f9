import type { Writing } from '../../report/words/writing.ts'
import type { Plan } from '../../plan/plan.ts'
import { EXIT, type ExitCode } from '../../library/exit-codes.ts'
import type { OutputFlags } from '../arguments/flags.ts'
import { createColors, useColor } from '../output/color.ts'
import { inertJson } from '../output/inert.ts'
import { hasChanges } from '../../plan/has-changes.ts'
import { planDocument, planLines } from '../output/plan-view.ts'
import type { Terminal } from '../terminal.ts'

/**
 * Prints a plan, and returns the exit code for it, as `kubectl diff` does. In text, the last lines give the way on: `perform`, the
 * command that carries the plan out, or the hints of the refusals.
 */
export function printPlan(
  plan: Plan,
  flags: OutputFlags,
  { out, err, env }: Terminal,
  { perform, write }: { perform: string; write: Writing },
): ExitCode {
  const isRefused = plan.refusals.length > 0
  if (isRefused) err.write('error: the plan is refused; nothing was touched\n')
  if (flags.output === 'text') {
    const colors = createColors(useColor(flags.color, env, out.isTerminal))
    const next = !isRefused && hasChanges(plan) ? ['', 'To do this:', `  ${perform}`] : []
    for (const line of [...planLines(plan, colors, write), ...next]) out.write(`${line}\n`)
  } else {
    out.write(`${inertJson(planDocument(plan, write), flags.output === 'json' ? 2 : undefined)}\n`)
  }
  if (isRefused) return EXIT.preflight
  return hasChanges(plan) ? EXIT.failed : EXIT.done
}
