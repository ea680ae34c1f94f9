/** The tokens of an nginx configuration, as nginx itself splits it, each with its position in the text. */

export interface Token {
  kind: 'word' | ';' | '{' | '}' | 'comment'
  /** For a word: the text without quotes and escapes. For a comment: the text from `#` to the end of the line. */
  text: string
  from: number
  to: number
}

const SPACE = /[ \t\r\n]/
const ENDS_WORD = /[ \t\r\n;{]/

/** Splits the text into tokens. Throws if a quote has no end. */
export function tokensOf(text: string): Token[] {
  const tokens: Token[] = []
  let at = 0
  while (at < text.length) {
    const from = at
    const char = text[at]!
    if (SPACE.test(char)) {
      at += 1
      continue
    }
    if (char === ';' || char === '{' || char === '}') {
      at += 1
      tokens.push({ kind: char, text: char, from, to: at })
    } else if (char === '#') {
      const end = text.indexOf('\n', at)
      at = end === -1 ? text.length : end
      tokens.push({ kind: 'comment', text: text.slice(from, at).trimEnd(), from, to: at })
    } else {
      at = char === '"' || char === "'" ? endOfQuoted(text, at) : endOfPlain(text, at)
      tokens.push({ kind: 'word', text: unescaped(text.slice(from, at)), from, to: at })
    }
  }
  return tokens
}

function endOfQuoted(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1
    else if (text[at] === text[from]) return at + 1
  }
  throw new Error(`the quote of line ${lineOf(text, from)} has no end`)
}

/** The end of a word without quotes. A `{` after `$` is part of a variable. */
function endOfPlain(text: string, from: number): number {
  let at = from
  while (at < text.length && (!ENDS_WORD.test(text[at]!) || (text[at] === '{' && text[at - 1] === '$' && at > from)))
    at += text[at] === '\\' ? 2 : 1
  return Math.min(at, text.length)
}

function unescaped(raw: string): string {
  const inner = /^["']/.test(raw) ? raw.slice(1, -1) : raw
  return inner.replaceAll(/\\(["'\\])/g, '$1')
}

/** The number of the line, from 1. */
export function lineOf(text: string, at: number): number {
  return text.slice(0, at).split('\n').length
}
