/**
 * Puts the values of parameters into the options of a preset. `$(name)` is a parameter, and `$$(` is a literal `$(`; CEL and templates
 * (`${…}`) do not use these signs. A value never becomes syntax: it is a literal in CEL, and one segment in a path.
 */
import { parseTemplate } from './template.ts'

/** The syntax of a string in the options. */
type Kind = 'cel' | 'path' | 'template' | 'plain'

export interface Use {
  name: string
  path: PropertyKey[]
  /** True if the parameter is the complete field. Without a value, the field is left out. Never true in CEL, which has null. */
  isWhole: boolean
  isCel: boolean
  /** The reason why the parameter is invalid here. A second line tells the solution. */
  problem?: string
}

export interface Filling {
  values: Record<string, unknown>
  /** True if the value of the parameter may contain `/` in a path. */
  isPath(name: string): boolean
  isInteger(name: string): boolean
}

const CEL: Record<string, readonly string[]> = {
  targets: ['each', 'id', 'address', 'scope'],
  inspect: ['entry', 'admin', 'routable', 'weight', 'inFlight', 'prior'],
  login: ['token'],
  failover: ['active'],
}

/** The rest of a path within a request, or within the common headers. */
function withinRequest([first = '', second = '', ...others]: string[]): string[] {
  if (first === 'headers') return [first]
  if (first === 'drain' || first === 'restore') return [second]
  if (first === 'inspect' && second === 'also') return others.slice(1)
  return second === 'request' ? others : []
}

function kindOf(path: readonly PropertyKey[]): Kind {
  const keys = path.filter((key) => typeof key === 'string')
  const [first = '', second = ''] = keys
  if (keys.length === 2 && CEL[first]?.includes(second)) return 'cel'
  switch (withinRequest(keys)[0]) {
    case 'headers':
    case 'body':
    case 'url':
      return 'template'
    case 'path':
      return 'path'
    case 'when':
      return 'cel'
    default:
      return 'plain'
  }
}

/** Literal text, or a parameter. `isQuoted`: the parameter is within a string of CEL. */
type Piece = { text: string } | { name: string; isQuoted: boolean } | { problem: string }

const SIGN = '$('

/** Splits the text at each `$(name)`. `$$(` becomes `$(`. */
function piecesOf(text: string, isCel: boolean): Piece[] {
  const pieces: Piece[] = []
  let literal = ''
  let quote = ''
  let isRaw = false
  for (let at = 0; at < text.length;) {
    if (text.startsWith('$$(', at)) {
      literal += SIGN
      at += 3
      continue
    }
    if (text.startsWith(SIGN, at)) {
      const name = /^\$\(([A-Za-z]\w*)\)/.exec(text.slice(at))?.[1]
      if (name === undefined)
        return [{ problem: 'has $( without the name of a parameter\nwrite $$( for the characters themselves' }]
      if (literal !== '') pieces.push({ text: literal })
      literal = ''
      pieces.push({ name, isQuoted: quote !== '' })
      at += name.length + 3
      continue
    }
    const character = text[at]!
    if (isCel && quote === '' && (character === '"' || character === "'")) {
      isRaw = /(^|[^\w])[rR]$/.test(text.slice(0, at))
      quote = text.startsWith(character.repeat(3), at) ? character.repeat(3) : character
      literal += quote
      at += quote.length
    } else if (quote !== '' && !isRaw && character === '\\') {
      literal += text.slice(at, at + 2)
      at += 2
    } else if (quote !== '' && text.startsWith(quote, at)) {
      literal += quote
      at += quote.length
      quote = ''
    } else {
      literal += character
      at += 1
    }
  }
  return literal === '' ? pieces : [...pieces, { text: literal }]
}

/** The expressions and the literal texts of a template, each on its own. */
function partsOf(text: string, kind: Kind): { text: string; isCel: boolean }[] {
  if (kind === 'cel') return [{ text, isCel: true }]
  if (kind === 'plain') return [{ text, isCel: false }]
  const parsed = parseTemplate(text)
  // The use of the template reports its error.
  if (!parsed.ok) return [{ text, isCel: false }]
  return parsed.parts.map((part) =>
    typeof part === 'string' ? { text: part, isCel: false } : { text: part.expression, isCel: true },
  )
}

/** All uses of parameters in the options. */
export function usesOf(options: unknown, path: PropertyKey[] = []): Use[] {
  if (typeof options === 'string')
    return partsOf(options, kindOf(path)).flatMap(({ text, isCel }, _part, parts) =>
      piecesOf(text, isCel).flatMap((piece, _index, pieces): Use[] => {
        const isWhole = !isCel && parts.length === 1 && pieces.length === 1 && kindOf(path) !== 'path'
        if ('problem' in piece) return [{ name: '', path, isWhole, isCel, problem: piece.problem }]
        if (!('name' in piece)) return []
        const { name, isQuoted } = piece
        const problem = `$(${name}) stands within quotes\nit is a value by itself: write "…" + $(${name})`
        return [{ name, path, isWhole, isCel, ...(isQuoted ? { problem } : {}) }]
      }),
    )
  if (Array.isArray(options)) return options.flatMap((inner, index) => usesOf(inner, [...path, index]))
  if (typeof options !== 'object' || options === null) return []
  return Object.entries(options).flatMap(([key, inner]) => {
    const problem = 'has a parameter in its name\nwrite the name out: a parameter is a value'
    const named = key.includes(SIGN) ? [{ name: '', path: [...path, key], isWhole: false, isCel: false, problem }] : []
    return [...named, ...usesOf(inner, [...path, key])]
  })
}

/** Marks a field that is left out because its parameter has no value. */
const LEFT_OUT = Symbol('left out')

/** Fills the options. A field that consists of one parameter without a value is left out. */
export function fill(options: unknown, filling: Filling, path: PropertyKey[] = []): unknown {
  const filled = fillAt(options, filling, path)
  return filled === LEFT_OUT ? undefined : filled
}

function fillAt(options: unknown, filling: Filling, path: PropertyKey[]): unknown {
  if (typeof options === 'string') return fillText(options, kindOf(path), filling)
  if (Array.isArray(options))
    return options.map((inner, index) => fillAt(inner, filling, [...path, index])).filter((inner) => inner !== LEFT_OUT)
  if (typeof options !== 'object' || options === null) return options
  const entries = Object.entries(options).map(([key, inner]) => [key, fillAt(inner, filling, [...path, key])] as const)
  return Object.fromEntries(entries.filter(([, inner]) => inner !== LEFT_OUT))
}

function fillText(text: string, kind: Kind, filling: Filling): unknown {
  const { values } = filling
  const [only, ...others] = piecesOf(text, kind === 'cel')
  if (others.length === 0 && only !== undefined && 'name' in only && kind !== 'cel' && kind !== 'path') {
    const value = values[only.name]
    if (value === undefined) return LEFT_OUT
    return typeof value === 'string' && kind === 'template' ? escaped(value) : value
  }
  const made = partsOf(text, kind).map((part) => {
    const filled = piecesOf(part.text, part.isCel).map((piece) =>
      'text' in piece ? piece.text : written(piece, part.isCel, kind, filling),
    )
    if (kind === 'cel' || kind === 'plain') return filled.join('')
    // The template parser has changed `$${` into `${`, so this code escapes it again.
    return part.isCel ? `\${${filled.join('')}}` : escaped(filled.join(''))
  })
  return made.join('')
}

function escaped(text: string): string {
  return text.replaceAll('${', () => '$${')
}

function written(piece: Exclude<Piece, { text: string }>, isCel: boolean, kind: Kind, filling: Filling): string {
  if ('problem' in piece) return ''
  const value = filling.values[piece.name]
  if (isCel) return celLiteral(value, filling.isInteger(piece.name))
  if (value === undefined) return ''
  if (kind !== 'path') return String(value)
  return filling.isPath(piece.name)
    ? String(value).split('/').map(encodeURIComponent).join('/')
    : encodeURIComponent(String(value))
}

/** The value as a literal of CEL, which reads the escapes of JSON. */
function celLiteral(value: unknown, isInteger: boolean): string {
  if (value === undefined || value === null) return 'null'
  if (typeof value !== 'number') return JSON.stringify(value)
  const text = Number.isInteger(value) && !isInteger ? value.toFixed(1) : String(value)
  return value < 0 ? `(${text})` : text
}
