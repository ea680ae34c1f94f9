import type { Advice } from '../../reasons/advice.ts'
import { adviceLines } from './advice.ts'
import type { Command } from '../../reasons/command.ts'
import type { Reason, ReasonFields } from '../../reasons/reason.ts'
import { cleanup } from './cleanup.ts'
import { orAsItIs } from './as-it-is.ts'
import { endpoints } from './endpoints.ts'
import { errors } from './errors.ts'
import { explain } from './explain.ts'
import { missing } from './missing.ts'
import { orders } from './orders.ts'
import { plan } from './plan.ts'
import { podEndings } from './pod-endings.ts'
import { podFacts } from './pod-facts.ts'
import { podWaits } from './pod-waits.ts'
import { records } from './records.ts'
import { refusals } from './refusals.ts'
import { resolving } from './resolve.ts'
import { run } from './run.ts'
import { shellForm } from './shell.ts'
import { template } from './template.ts'
import { traffic } from './traffic.ts'
import { undo } from './undo.ts'
import { window } from './window.ts'
import type { WordsOf, Writing } from './writing.ts'

/** The words for each code. */
export const words: WordsOf<ReasonFields> = {
  ...podEndings,
  ...podWaits,
  ...podFacts,
  ...traffic,
  ...window,
  ...run,
  ...plan,
  ...refusals,
  ...template,
  ...records,
  ...orders,
  ...resolving,
  ...undo,
  ...cleanup,
  ...missing,
  ...errors,
  ...endpoints,
  ...explain,
}

/**
 * Creates the writing of reasons. `command` returns the shell form of a command, with the flags for the cluster. A record may come from
 * another version of sluice, or may be edited; facts without words are shown as they are.
 */
export function createWriting(command: (command: Command) => string = shellForm): Writing {
  const write: Writing = {
    command: (one) => orAsItIs(one, () => command(one)),
    reason(reason) {
      const sentence = words[reason.code] as ((facts: Reason, write: Writing) => string) | undefined
      const { code, more, ...facts } = reason
      const whole = orAsItIs(facts, () => sentence?.(reason, write), `${code} `)
      return typeof more !== 'number' ? whole : `${whole}; and ${more} more`
    },
  }
  return write
}

const plain = createWriting()

/** A reason in English. */
export function reasonWords(reason: Reason): string {
  return plain.reason(reason)
}

/** A piece of advice in English, in lines. */
export function adviceWords(advice: Advice): string[] {
  return adviceLines(advice, plain)
}
