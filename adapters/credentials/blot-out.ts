/** Finds secrets in texts from elsewhere, however they are written there. */

const ENTITIES: Record<string, string> = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', "'": 'apos' }

/** A secret as an answer may echo it: each character as it is, or as JSON, a URL or HTML write it. */
function echo(secret: string, flags: 'i' | 'gi'): RegExp {
  const characters = [...secret].map((character) => {
    const code = character.charCodeAt(0)
    const hex = code.toString(16)
    const entity = character in ENTITIES ? `|&${ENTITIES[character]};` : ''
    return `(?:\\\\?\\x${hex}|%${hex}|\\\\u00${hex}|&#0*${code};|&#x0*${hex};${entity})`
  })
  return new RegExp(characters.join(''), flags)
}

/** A value that is shorter is a number or a switch rather than a secret: without it, a message about it says nothing. */
const SHORTEST_SECRET = 4

/** Blots secrets out of many texts: the patterns are made once. The longest first: another one may be a part of it. */
export function createBlotter(secrets: readonly string[]): (text: string) => string {
  const long = secrets.filter(({ length }) => length >= SHORTEST_SECRET)
  const patterns = long.toSorted((a, b) => b.length - a.length).map((secret) => echo(secret, 'gi'))
  return (text) => patterns.reduce((shown, pattern) => shown.replaceAll(pattern, '***'), text)
}

/** A secret that is shorter may stand in a name by chance. */
const SHORTEST_ECHO = 6

/** Of the secrets that were sent: an answer may give one back, to be shown and kept with whatever is made of it. */
export interface Echoes {
  readonly secrets: string[]
  listenFor(secrets: readonly string[]): void
  in(text: string): boolean
}

export function createEchoes(): Echoes {
  /** Made once: a list has ten thousands of names. */
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
