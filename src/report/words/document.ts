import type { Command } from '../../reasons/command.ts'
import type { Reason } from '../../reasons/reason.ts'
import { adviceLines, isAdvice } from './advice.ts'
import { words } from './words.ts'
import type { Writing } from './writing.ts'

/**
 * Adds English to a document: each reason and each piece of advice gets a `message`, possibly of several lines, and each command its
 * `shell` form. Both are for people; programs read the code and the fields.
 */
export function worded(value: unknown, write: Writing): unknown {
  if (Array.isArray(value)) return value.map((one) => worded(one, write))
  if (typeof value !== 'object' || value === null) return value
  if (isDifference(value)) return value
  const parts = Object.fromEntries(
    Object.entries(value).map(([key, part]) => [key, key === 'prior' ? part : worded(part, write)]),
  )
  if (isReason(value)) return { ...parts, message: write.reason(value) }
  if (isAdvice(value)) return { ...parts, message: adviceLines(value, write).join('\n') }
  return isCommand(value) ? { ...parts, shell: write.command(value) } : parts
}

/** True for values that stay unchanged: the sides of a template difference, and `prior`, the state that an adapter has read. */
function isDifference(value: object): boolean {
  return 'path' in value && ('before' in value || 'after' in value)
}

function isReason(value: object): value is Reason {
  const code: unknown = 'code' in value ? value.code : undefined
  return typeof code === 'string' && Object.hasOwn(words, code)
}

const COMMANDS: ReadonlySet<unknown> = new Set<Command['command']>(['resolve', 'upgrade', 'undo', 'status', 'kubectl'])

function isCommand(value: object): value is Command {
  return 'command' in value && COMMANDS.has(value.command) && 'namespace' in value
}
