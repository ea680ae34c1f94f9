import { inert } from './inert.ts'

/** Commander's own, on a line of its own below the error; the names in it are ours. */
const SUGGESTION = /\n\(Did you mean [^\n]*\?\)\n$/

/** An error of commander, for stderr. It quotes the argument as it was given: one that holds an escape sequence, or is of two lines. */
export function commandError(text: string): string {
  const suggestion = SUGGESTION.exec(text)?.[0] ?? '\n'
  return inert(text.slice(0, -suggestion.length)) + suggestion
}
