/** One word for a POSIX shell, whatever characters it has. */
export function quote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`
}

/** A program with its arguments, as words of a script. */
export function quoteAll(words: readonly string[]): string {
  return words.map(quote).join(' ')
}
