import { inert } from '../inert.ts'

/**
 * A command line that a shell reads back as exactly these words, and that has no effect on the terminal. POSIX shells do so; a word with
 * control characters needs a shell that supports $'…', such as bash, zsh or ksh.
 */
export function shellQuote(words: readonly string[]): string {
  return words.map(quoted).join(' ')
}

function quoted(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word
  if (inert(word) === word) return `'${word.replaceAll("'", `'\\''`)}'`
  return `$'${[...word].map((character) => (inert(character) === character ? escaped(character) : octal(character))).join('')}'`
}

function escaped(character: string): string {
  return character === "'" || character === '\\' ? `\\${character}` : character
}

/** Three octal digits for each byte. Hexadecimal escapes are ambiguous, because some shells take all following digits. */
function octal(character: string): string {
  return Array.from(Buffer.from(character), (byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('')
}
