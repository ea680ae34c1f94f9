import { inert } from './inert.ts'

/** The suggestion of commander, on a line of its own below the error. The names in it come from sluice. */
const SUGGESTION = /\n\(Did you mean [^\n]*\?\)\n$/

/**
 * Makes an error of commander safe for stderr. Commander quotes the argument as given, which may contain an escape sequence or a line
 * break.
 */
export function commandError(text: string): string {
  const suggestion = SUGGESTION.exec(text)?.[0] ?? '\n'
  return inert(text.slice(0, -suggestion.length)) + suggestion
}
