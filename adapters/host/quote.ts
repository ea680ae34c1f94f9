/** Quotes any text as one word for a POSIX shell. */
export function quote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`
}

/** Quotes a program with its arguments as words of a script. */
export function quoteAll(words: readonly string[]): string {
  return words.map(quote).join(' ')
}
