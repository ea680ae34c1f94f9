/**
 * Changes some fields of a YAML or JSON text. All other characters stay: comments, order and formatting. The edit compares the parsed
 * result with the expected values, so that a wrong edit changes nothing.
 */
import { isDeepStrictEqual } from 'node:util'
import { type Document, isMap, isScalar, type Pair, parseAllDocuments, parseDocument, type Scalar, type YAMLMap } from 'yaml'

export type Plain = null | boolean | number | string

/** The position of a value in a document: keys of maps and indexes of lists. */
export type Path = readonly (string | number)[]

/** A value as it is written in a text, including quotes. */
export interface Written {
  written: string
}

export interface FieldChange {
  /** The path of the map. The map must have other fields too, and must not be an alias. */
  map: Path
  field: string
  /** The new value. Undefined: the field is removed. */
  to: Plain | Written | undefined
}

/** The error for a text that is not a single YAML document, or cannot be changed in place. */
export class YamlError extends Error {
  override readonly name = 'YamlError'
}

/** The value of the text. */
export function readYaml(text: string): unknown {
  return openYaml(text).value
}

export interface OpenYaml {
  value: unknown
  /** The written form of a field with a single value. Undefined if it is missing or is an alias. */
  writingOf(map: Path, field: string): string | undefined
}

export function openYaml(text: string): OpenYaml {
  const document = parse(text)
  return {
    value: toPlain(document),
    writingOf(map, field) {
      const node = document.getIn([...map, field], true)
      return isScalar(node) && node.range ? text.slice(node.range[0], node.range[1]) : undefined
    },
  }
}

export function changeFields(text: string, changes: readonly FieldChange[]): string {
  const document = parse(text)
  const wanted = toPlain(document)
  const edits = changes.flatMap((change) => {
    const pathText = [...change.map, change.field].join('.')
    const map = document.getIn(change.map, true)
    if (!isMap(map)) throw new YamlError(`${pathText} cannot be changed where it stands; write the map out, without an alias`)
    setPlain(wanted, change)
    const edit = editOf(text, map, change)
    return edit === undefined ? [] : [edit]
  })
  const changed = apply(text, edits)
  if (isDeepStrictEqual(tryRead(changed), wanted)) return changed
  const paths = changes.map(({ map, field }) => [...map, field].join('.'))
  throw new YamlError(`${paths.join(' and ')} cannot be changed where it stands; write it plainly, without anchors and tags`)
}

/** Without this option, the parser prints its warnings to the terminal. */
const OPTIONS = { logLevel: 'error' } as const

function parse(text: string): Document.Parsed {
  const [document, ...more] = parseAllDocuments(text, OPTIONS)
  if (document === undefined || !('contents' in document)) throw new YamlError('it is empty')
  if (more.length > 0) throw new YamlError('it has several documents; keep one')
  const [error] = document.errors
  // The other lines of the message show the place in the text.
  if (error !== undefined) throw new YamlError(error.message.split('\n')[0]!.replace(/:$/, ''))
  return document
}

/** The value without shared objects, because a change of one alias must not change the other. */
function toPlain(document: Document): unknown {
  try {
    return JSON.parse(JSON.stringify(document.toJS()))
  } catch (error) {
    throw new YamlError((error as Error).message)
  }
}

function tryRead(text: string): unknown {
  const document = parseDocument(text, OPTIONS)
  return document.errors.length > 0 ? undefined : toPlain(document)
}

function setPlain(root: unknown, { map, field, to }: FieldChange): void {
  const object = map.reduce<unknown>((value, key) => (value as Record<string | number, unknown>)[key], root)
  const fields = object as Record<string, unknown>
  if (to === undefined) delete fields[field]
  else fields[field] = isWritten(to) ? readYaml(to.written) : to
}

function isWritten(to: Plain | Written): to is Written {
  return typeof to === 'object' && to !== null
}

interface Edit {
  from: number
  to: number
  text: string
}

function apply(text: string, edits: readonly Edit[]): string {
  return edits
    .toSorted((a, b) => b.from - a.from)
    .reduce((changed, edit) => changed.slice(0, edit.from) + edit.text + changed.slice(edit.to), text)
}

function editOf(text: string, map: YAMLMap, { field, to }: FieldChange): Edit | undefined {
  const pairs = map.items as Pair<Scalar, Scalar>[]
  const index = pairs.findIndex(({ key }) => isScalar(key) && key.value === field)
  const pair = pairs[index]
  if (pair === undefined) return to === undefined ? undefined : insertion(text, map, pairs, field, to)
  if (to === undefined) return map.flow === true ? flowRemoval(text, pairs, index) : blockRemoval(text, pairs, index)
  const [from, end] = rangeOf(pair.value)
  return { from, to: end, text: write(to, isQuoted(pair.value)) }
}

/** Inserts a field before the first one, because only its indentation must be known there. */
function insertion(
  text: string,
  { flow }: YAMLMap,
  pairs: readonly Pair<Scalar, Scalar>[],
  field: string,
  to: Plain | Written,
): Edit {
  const first = pairs[0]
  if (first === undefined) throw new YamlError(`there is no other field beside ${field}`)
  const [at] = rangeOf(first.key)
  const quoted = isQuoted(first.key)
  const added = `${write(field, quoted)}: ${write(to, quoted)}`
  if (flow === true) {
    const [space] = /\s*$/.exec(text.slice(0, at))!
    return { from: at, to: at, text: `${added},${text[at - space.length - 1] === '{' && space !== '' ? space : ' '}` }
  }
  const lineStart = text.lastIndexOf('\n', at - 1) + 1
  return { from: at, to: at, text: `${added}${lineEnd(text)}${' '.repeat(at - lineStart)}` }
}

function flowRemoval(text: string, pairs: readonly Pair<Scalar, Scalar>[], index: number): Edit {
  const [from] = rangeOf(pairs[index]!.key)
  const [, end] = rangeOf(pairs[index]!.value)
  const comma = /^\s*,\s*/.exec(text.slice(end))
  if (comma !== null) return { from, to: end + comma[0].length, text: '' }
  const before = /\s*,\s*$/.exec(text.slice(0, from))
  return { from: from - (before?.[0].length ?? 0), to: end, text: '' }
}

/** Removes a field with its line and the comment at the end of the line. */
function blockRemoval(text: string, pairs: readonly Pair<Scalar, Scalar>[], index: number): Edit {
  const [from] = rangeOf(pairs[index]!.key)
  const [, end] = rangeOf(pairs[index]!.value)
  const [rest, newline] = /^[^\r\n]*(\r?\n)?/.exec(text.slice(end))!
  const lineStart = text.lastIndexOf('\n', from - 1) + 1
  const after = end + rest.length
  if (text.slice(lineStart, from).trim() === '') return { from: lineStart, to: after, text: '' }
  // The field follows the dash of a list, so the next line takes its place.
  const [indentation] = /^[ \t]*/.exec(text.slice(after))!
  return { from, to: newline === undefined ? after : after + indentation.length, text: '' }
}

function rangeOf(node: Scalar | null): readonly [number, number] {
  if (!isScalar(node) || !node.range) throw new YamlError('a field is written in a way that cannot be changed in place')
  return [node.range[0], node.range[1]]
}

function isQuoted(node: Scalar | null): boolean {
  return isScalar(node) && node.type === 'QUOTE_DOUBLE'
}

/** Writes a value. A text is plain only if no parser can read it as another type. */
function write(value: Plain | Written, quoted: boolean): string {
  if (isWritten(value)) return value.written
  const isPlain = typeof value === 'string' && !quoted && /^[A-Za-z_][\w.-]*$/.test(value) && !LIKE_A_VALUE.test(value)
  return isPlain ? value : JSON.stringify(value)
}

const LIKE_A_VALUE = /^(null|true|false|yes|no|on|off|y|n)$/i

function lineEnd(text: string): string {
  return text.includes('\r\n') ? '\r\n' : '\n'
}
