// Checks that English is made in src/report/words alone, and that no code reads it back. Finds other sentences in the deciding folders,
// and code that searches in a message. Then planted cases must be found: a search of nothing also says "none".
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAst } from 'rolldown/parseAst'

const NO_CODE_OF_OURS = /\.test\.ts$|\/testing\//
/** The folders that decide. Code in these folders returns codes with fields, and no sentences. */
const DECIDING =
  /^(machines|src\/(reasons|ports|pods|endpoints|explain|journal|plan|leadership|leases|webhook|sync|observation|workloads|engine|doctor|observer))\//
/** These files state the mistakes in an input, or the purpose of a right. A mistake in a file of the webhook names what the file is. */
const STATES_INPUT = new RegExp(
  `^src/(${[
    'pods/image',
    '(engine|doctor|webhook|sync|(explain|observer)/read)/rights',
    'workloads/kinds/(deployment|revisioned-rights)',
    'sync/config/(config-schema|load-sync-config)',
    'webhook/rules/(document-schema|expression|parse-rule-set|rules-error|shipped)',
    'webhook/sources/(cache-file|credentials|follow-file|signature)',
  ].join('|')})\\.ts$`,
)
/** These files read texts of a kubelet, an API server, a parser or the file system, or leave out a repeated cause. */
const READS_OTHERS = /^src\/((kube|config)\/|pods\/(witness|image-pulls)\.ts$|cli\/(failures|run\/report-files)\.ts$)/
/** Matches two words, with or without values between them. */
const SENTENCE = /[a-z]{2,}(?: ◊)* [a-z]{2,}/
const SEARCHES = new Set(
  'test exec match matchAll search includes startsWith endsWith indexOf lastIndexOf split replace replaceAll'.split(' '),
)
const COMPARES = new Set(['===', '!==', '==', '!='])
const MESSAGE = /^(message|hint|said|detail|instructions|reasonWords|adviceLines|shortWords)$/

interface Node {
  type?: string
  start?: number
  name?: string
  value?: unknown
  callee?: Node
  object?: Node
  property?: Node
  arguments?: Node[]
  [key: string]: unknown
}

interface Found {
  file: string
  line: number
  what: 'sentence' | 'search'
  text: string
}

const WAY_OUT = {
  sentence: 'make a reason of it (src/reasons), and its words in src/report/words',
  search: 'branch on the code of the reason and its fields',
}

function children(node: Node): Node[] {
  return Object.values(node)
    .flat()
    .filter((one): one is Node => typeof one === 'object' && one !== null)
}

/** Reports whether a node is a message, by its name, by an alias, or as the text of an error. */
function isMessage(node: Node | undefined, aliases: ReadonlySet<string>): boolean {
  if (node === undefined) return false
  const is = (one: Node | undefined): boolean => isMessage(one, aliases)
  if (node.type === 'Identifier') return MESSAGE.test(node.name ?? '') || aliases.has(node.name ?? '')
  if (node.type === 'MemberExpression') return is(node.property) || is(node.object)
  if (node.type === 'CallExpression')
    return is(node.callee) || (node.callee?.name === 'String' && isErrorName(node.arguments?.[0]))
  return node.type === 'ChainExpression' && is(node.expression as Node)
}

function isErrorName(node: Node | undefined): boolean {
  return node?.type === 'Identifier' && /^(error|cause)$/i.test(node.name ?? '')
}

/** Returns the aliases of messages in a file: `{ message: text }`, `const text = error.message`. */
function aliasesIn(node: Node, found = new Set<string>()): Set<string> {
  const { type, key, value, id, init } = node as Node & { key?: Node; id?: Node; init?: Node }
  const name = (value as Node | undefined)?.name
  if (type === 'Property' && MESSAGE.test(key?.name ?? '') && name !== undefined && isPattern(node)) found.add(name)
  if (type === 'VariableDeclarator' && id?.name !== undefined && init?.type === 'MemberExpression')
    if (MESSAGE.test(init.property?.name ?? '')) found.add(id.name)
  for (const child of children(node)) {
    if (child.type === 'ObjectPattern') for (const one of children(child)) one['isPattern'] = true
    aliasesIn(child, found)
  }
  return found
}

function isPattern(node: Node): boolean {
  return node['isPattern'] === true
}

function isString(node: Node | undefined): boolean {
  return node?.type === 'TemplateLiteral' || (node?.type === 'Literal' && typeof node.value === 'string' && node.value !== '')
}

/** Reports whether a node searches in a message, compares it with a text, or branches on it. */
function isSearch(node: Node, aliases: ReadonlySet<string>): boolean {
  const { type, callee, arguments: given = [], left, right, operator, discriminant } = node as Node & Record<string, Node>
  const is = (one: Node | undefined): boolean => isMessage(one, aliases)
  // A field `said` may be one of two words, which are data.
  const isText = (one: Node | undefined): boolean => is(one) && one?.property?.name !== 'said' && one?.name !== 'said'
  if (type === 'SwitchStatement') return isText(discriminant)
  if (type === 'BinaryExpression' && COMPARES.has(operator as unknown as string))
    return (isText(left) && isString(right)) || (isText(right) && isString(left))
  if (type !== 'CallExpression' || callee?.type !== 'MemberExpression' || !SEARCHES.has(callee.property?.name ?? '')) return false
  return is(callee.object) || (given as Node[]).some(is)
}

/** The text of a thrown error is for a programmer, and is no sentence for an operator. */
function isThrown({ type, callee }: Node): boolean {
  const name = callee?.name ?? ''
  if (type === 'CallExpression') return callee?.type === 'Super'
  return type === 'NewExpression' && name.endsWith('Error') && name !== 'RunError' && name !== 'WorkloadError'
}

/** Returns the text of a node, with a mark for each value. Parts that + joins are one text. */
function textOf(node: Node): string | undefined {
  const { type, value, left, right, operator } = node as Node & { left?: Node; right?: Node; operator?: string }
  if (type === 'Literal') return typeof value === 'string' ? value : undefined
  if (type === 'TemplateLiteral')
    return (node['quasis'] as Node[]).map((one) => (one.value as { cooked?: string }).cooked ?? '').join('◊')
  if (type !== 'BinaryExpression' || operator !== '+') return undefined
  const [before, after] = [textOf(left!), textOf(right!)]
  return before === undefined && after === undefined ? undefined : `${before ?? '◊'}${after ?? '◊'}`
}

function foundIn(file: string): Found[] {
  const source = readFileSync(file, 'utf8')
  const found: Found[] = []
  const isDeciding = DECIDING.test(file) && !STATES_INPUT.test(file)
  const program = parseAst(source, { lang: 'ts', sourceType: 'module' }) as unknown as Node
  const aliases = aliasesIn(program)
  const visit = (node: Node, mayState: boolean): void => {
    const told = mayState || isThrown(node)
    const at = (what: Found['what'], text: string): void =>
      void found.push({ file, line: source.slice(0, node.start).split('\n').length, what, text })
    const text = textOf(node)
    if (isDeciding && !told && text !== undefined && SENTENCE.test(text)) at('sentence', text)
    if (!READS_OTHERS.test(file) && isSearch(node, aliases)) at('search', source.slice(node.start, node.start! + 60))
    for (const child of children(node)) visit(child, told)
  }
  visit(program, false)
  return found
}

function search(): { files: number; found: Found[] } {
  const files = ['src', 'machines']
    .flatMap((folder) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)))
    .filter((file) => file.endsWith('.ts') && !NO_CODE_OF_OURS.test(file))
  return { files: files.length, found: files.flatMap(foundIn) }
}

const { files, found } = search()
for (const { file, line, what, text } of found) console.error(`${file}:${line}: ${what} "${text}": ${WAY_OUT[what]}`)
if (found.length > 0) process.exit(1)

const PLANTED: [file: string, what: Found['what'], source: string][] = [
  ['src/plan/planted-words.ts', 'sentence', "export const planted = 'the pod is gone'"],
  ['src/engine/planted-words.ts', 'sentence', 'export const planted = (pod: string): string => `pod ${pod} gone`'],
  ['src/sync/decide/planted-words.ts', 'sentence', 'export const planted = (pod: string): string => `pod ${pod} gone`'],
  ['src/webhook/touch/planted-words.ts', 'sentence', "export const planted = 'the pod is gone'"],
  ['src/leadership/planted-words.ts', 'sentence', "export const planted = 'the lease is lost'"],
  ['src/pods/planted-words.ts', 'sentence', "export const planted = (pod: string): string => 'the pod ' + pod + ' is gone'"],
  ['src/journal/planted-words.ts', 'sentence', "export class Planted extends Error {\n  told = (): string => 'it is gone'\n}"],
  [
    'src/cli/planted-words.ts',
    'search',
    'export const planted = (one: { message: string }): boolean => /gone/.test(one.message)',
  ],
  [
    'src/library/planted-words.ts',
    'search',
    "export const planted = ({ said }: { said: string }): boolean => said.includes('gone')",
  ],
  ['src/report/planted-words.ts', 'search', "export const planted = (error: Error): boolean => error.message === 'gone'"],
  ['src/cli/run/planted-words.ts', 'search', "export const planted = ({ message: m }: Error): boolean => m.startsWith('gone')"],
  [
    'src/cli/output/planted-words.ts',
    'search',
    "export const planted = (error: unknown): boolean => String(error).includes('gone')",
  ],
]
try {
  for (const [file, , source] of PLANTED) writeFileSync(file, `${source}\n`)
  const now = search().found
  const missed = PLANTED.filter(([file, what]) => !now.some((one) => one.file === file && one.what === what))
  if (missed.length > 0) {
    console.error(`Planted in ${missed.map(([file]) => file).join(', ')} and not found: this check finds nothing.`)
    process.exit(1)
  }
} finally {
  for (const [file] of PLANTED) rmSync(file, { force: true })
}
console.log(
  `words: ${files} files, no sentence outside of src/report/words and no search in one; those that were planted were found`,
)
