/** Finds secrets in external texts, in any encoding. */

const ENTITIES: Record<string, string> = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', "'": 'apos' }

/** A pattern for a secret as an answer may echo it: each character is plain, or encoded for JSON, a URL or HTML. */
function echo(secret: string, flags: 'i' | 'gi'): RegExp {
  const characters = [...secret].map((character) => {
    const code = character.charCodeAt(0)
    const hex = code.toString(16)
    const entity = character in ENTITIES ? `|&${ENTITIES[character]};` : ''
    return `(?:\\\\?\\x${hex}|%${hex}|\\\\u00${hex}|&#0*${code};|&#x0*${hex};${entity})`
  })
  return new RegExp(characters.join(''), flags)
}

/**
 * The minimum length of a secret, in characters. A shorter value is usually a number or a switch, and a message without it would not help.
 */
const SHORTEST_SECRET = 4

/** Replaces secrets in many texts, with patterns that are made once. The longest secret is first, because it may contain another one. */
export function createBlotter(secrets: readonly string[]): (text: string) => string {
  const long = secrets.filter(({ length }) => length >= SHORTEST_SECRET)
  const patterns = long.toSorted((a, b) => b.length - a.length).map((secret) => echo(secret, 'gi'))
  return (text) => patterns.reduce((shown, pattern) => shown.replaceAll(pattern, '***'), text)
}

/** The minimum length of an echoed secret, in characters. A shorter one may be part of a name by chance. */
const SHORTEST_ECHO = 6

/** The secrets that were sent. An answer may echo one, and sluice must neither show nor store it. */
export interface Echoes {
  readonly secrets: string[]
  listenFor(secrets: readonly string[]): void
  in(text: string): boolean
}

export function createEchoes(): Echoes {
  /** The patterns are made once, because a list may have tens of thousands of names. */
  const patterns = new Map<string, RegExp>()
  return {
    get secrets() {
      return [...patterns.keys()]
    },
    listenFor(secrets) {
      for (const secret of secrets) if (!patterns.has(secret)) patterns.set(secret, echo(secret, 'i'))
    },
    in: (text) => [...patterns].some(([{ length }, pattern]) => length >= SHORTEST_ECHO && pattern.test(text)),
  }
}
