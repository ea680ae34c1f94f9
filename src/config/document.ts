import { isUtf8 } from 'node:buffer'
import {
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  parseAllDocuments,
  visit,
  type Document,
  type Node,
  type Pair,
  type YAMLMap,
} from 'yaml'
import { ConfigError, type ConfigIssue } from './config-error.ts'
import { looksSecret } from './looks-secret.ts'
import { show } from './show.ts'
import { NESTED_TOO_DEEP, yamlMistake } from './yaml-mistake.ts'

const MOST_YAML_MISTAKES = 5

const CONFIG_NEEDS = 'it needs at least apiVersion, kind and loadBalancers'

export interface Position {
  line: number
  column: number
}

export type FieldPath = readonly PropertyKey[]

/** A parsed file with the position of each field. */
export interface ConfigDocument {
  value: unknown
  /** The position of the value at `path`; for a missing value, the position of its nearest parent. */
  valuePosition(path: FieldPath): Position
  /** The position of the key at the end of `path`. */
  keyPosition(path: FieldPath): Position
}

const NOWHERE: Position = { line: 0, column: 0 }

/**
 * Reads one YAML document, and collects every mistake that the parser can find. `needs` is the hint for an empty document. Throws a
 * ConfigError.
 */
export function parseDocument(file: string, bytes: Uint8Array, needs = CONFIG_NEEDS): ConfigDocument {
  const fail = (issues: ConfigIssue | ConfigIssue[], cause?: unknown): never => {
    throw new ConfigError(file, [issues].flat(), { cause })
  }
  const text = decode(bytes, fail)
  const lines = new LineCounter()
  const positionAt = (offset: number): Position => {
    const { line, col } = lines.linePos(offset)
    return { line, column: col }
  }

  // `wrongKeys` finds repeated keys. The parser's own check is off, because it compares each key with every other key.
  const parsed = parseAllDocuments(text, {
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: false,
    // A config contains no sets, binary data or the like.
    resolveKnownTags: false,
  })
  const documents: Document.Parsed[] = 'empty' in parsed ? [] : parsed
  const [document, second] = documents
  if (document === undefined || isEmptyNode(document.contents)) {
    return fail({ path: '', message: 'is empty', hint: needs, ...NOWHERE })
  }
  const mistakes = documents.flatMap(({ errors, warnings }) => [...errors, ...warnings])
  if (mistakes.length > 0) {
    const issues = mistakes.slice(0, 100).map((mistake) => ({ path: '', ...yamlMistake(mistake), ...positionAt(mistake.pos[0]) }))
    // If the parser's stack overflows, it reports an error for each level; one report is enough.
    const tooDeep = issues.find(({ message }) => message === NESTED_TOO_DEEP)
    if (tooDeep !== undefined) fail(tooDeep)
    // After one mistake the parser often reports further mistakes at the same place.
    const places = new Map(issues.toReversed().map((issue) => [`${issue.line}:${issue.column}`, issue]))
    fail([...places.values()].toReversed().slice(0, MOST_YAML_MISTAKES))
  }
  if (second !== undefined) {
    const hint = 'keep one document a file'
    fail({ path: '', message: 'a second YAML document begins here', hint, ...positionAt(second.range[0]) })
  }

  const wrong = [...wrongKeys(document, positionAt), ...wrongAliases(document, positionAt)]
  if (wrong.length > 0) fail(wrong)
  const value = toValue(document, fail)
  if (!isMap(document.contents)) {
    // The file may be of another kind, such as a token file, whose value is a secret; so the message does not show it.
    const message = `${Array.isArray(value) ? show(value) : 'a single value'} is not a mapping (key: value)`
    fail({ path: '', message, hint: needs, ...positionAt(document.contents!.range[0]) })
  }

  return { value, ...locator(document, positionAt) }
}

/** True for a missing value, which YAML reads as null. */
function isEmptyNode(node: unknown): boolean {
  return node === null || node === undefined || (isScalar(node) && node.value === null)
}

/** Repeated keys, and merge keys (`<<`), which would insert other keys. */
function wrongKeys(document: Document.Parsed, positionAt: (offset: number) => Position): ConfigIssue[] {
  const issues: ConfigIssue[] = []
  visit(document, {
    Map: (_key, { items }) => {
      const first = new Set<string>()
      for (const { key } of items) {
        if (!isScalar(key)) continue
        const name = String(key.value)
        if (name === '<<' && key.type === 'PLAIN') {
          const hint = 'write the keys out, or give a whole value by alias (key: *name)'
          issues.push({ path: '', message: 'merge keys (<<) are not supported', hint, ...positionAt(key.range![0]) })
          continue
        }
        const message = `${show(name)} stands here a second time`
        if (first.has(name)) issues.push({ path: '', message, hint: 'remove one of the two', ...positionAt(key.range![0]) })
        first.add(name)
      }
    },
  })
  return issues
}

/** Aliases without an anchor, and aliases within their own anchor, which would make an endless value. */
function wrongAliases(document: Document.Parsed, positionAt: (offset: number) => Position): ConfigIssue[] {
  const issues: ConfigIssue[] = []
  const anchors = new Map<string, Node>()
  visit(document, {
    Value: (_key, node) => {
      if (node.anchor !== undefined) anchors.set(node.anchor, node)
    },
    Alias: (_key, alias, ancestors) => {
      const named = anchors.get(alias.source)
      if (named !== undefined && !ancestors.includes(named)) return
      const message = named === undefined ? 'stands for nothing' : 'stands within what it names'
      const hint = named === undefined ? 'a text that begins with * needs quotes' : 'write the value out in its place'
      // A text that begins with * is an alias for YAML, and may be a secret.
      const name = looksSecret(keysOf(ancestors)) ? 'this alias' : `the alias *${alias.source}`
      issues.push({ path: '', message: `${name} ${message}`, hint, ...positionAt(alias.range![0]) })
    },
  })
  return issues
}

function keysOf(nodes: readonly unknown[]): string[] {
  return nodes.flatMap((node) => (isPair(node) && isScalar(node.key) ? [String(node.key.value)] : []))
}

type Fail = (issues: ConfigIssue | ConfigIssue[], cause?: unknown) => never

function decode(bytes: Uint8Array, fail: Fail): string {
  if (!isUtf8(bytes)) {
    const hint = 'save the file as UTF-8'
    fail({ path: '', message: 'is not UTF-8 text', hint, line: firstLineThatIsNotUtf8(bytes), column: 1 })
  }
  const text = new TextDecoder().decode(bytes)
  const nul = text.indexOf('\0')
  if (nul >= 0) {
    const hint = 'save the file as UTF-8 text; is this the right file?'
    fail({
      path: '',
      message: 'holds a NUL character, which no text has',
      hint,
      line: text.slice(0, nul).split('\n').length,
      column: 1,
    })
  }
  return text
}

function firstLineThatIsNotUtf8(bytes: Uint8Array): number {
  const lineFeed = 10
  for (let line = 1, start = 0; ; line += 1) {
    const end = bytes.indexOf(lineFeed, start)
    if (end < 0 || !isUtf8(bytes.subarray(start, end))) return line
    start = end + 1
  }
}

function toValue(document: Document.Parsed, fail: Fail): unknown {
  try {
    // The default of the parser limits the multiplication by aliases ("billion laughs").
    return document.toJS()
  } catch (error) {
    return fail(
      {
        path: '',
        message: 'its aliases (*name) multiply without end',
        hint: 'write the values out instead of repeating them by alias',
        ...NOWHERE,
      },
      error,
    )
  }
}

function locator(
  document: Document.Parsed,
  positionAt: (offset: number) => Position,
): Pick<ConfigDocument, 'valuePosition' | 'keyPosition'> {
  const begin = (node: Node | null): Position => (node?.range ? positionAt(node.range[0]) : { line: 1, column: 1 })
  const resolved = (node: unknown): unknown => (isAlias(node) ? node.resolve(document) : node)

  const indexed = new WeakMap<YAMLMap, Map<string, Pair>>()
  const pairsOf = (map: YAMLMap): Map<string, Pair> => {
    const known = indexed.get(map)
    if (known !== undefined) return known
    const pairs = new Map(map.items.flatMap((pair) => (isScalar(pair.key) ? [[String(pair.key.value), pair] as const] : [])))
    indexed.set(map, pairs)
    return pairs
  }

  const find = (path: FieldPath): { key: Node | null; value: Node | null } => {
    let key: Node | null = null
    let value: Node | null = document.contents
    for (const segment of path) {
      const parent = resolved(value)
      if (isSeq(parent)) {
        const item = parent.items[Number(segment)]
        if (item === undefined) break
        key = null
        value = item as Node
      } else if (isMap(parent)) {
        const pair = pairsOf(parent).get(String(segment))
        if (pair === undefined) break
        key = pair.key as Node
        // A key without a value has no value position, so the position is that of the key.
        value = (isEmptyNode(pair.value) ? pair.key : pair.value) as Node
      } else break
    }
    return { key, value }
  }

  return {
    valuePosition: (path) => begin(find(path).value),
    keyPosition: (path) => {
      const { key, value } = find(path)
      return begin(key ?? value)
    },
  }
}
