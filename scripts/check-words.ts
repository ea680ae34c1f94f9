// English is made in src/report/words alone, and no code reads it back. Finds sentences that are made elsewhere in the folders that
// decide, and code that searches in a message. Then planted ones, which must be found: a search of nothing also says "none".
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAst } from 'rolldown/parseAst'

const NO_CODE_OF_OURS = /\.test\.ts$|\/testing\//
/** Folders that decide. Codes with fields leave them, and no sentences. */
const DECIDING = /^(machines|src\/(reasons|ports|pods|journal|plan|observation|workloads|engine))\//
/** What is wrong with an input, and why a right is needed, is said where it is checked or stated. */
const STATES_INPUT = /^src\/(pods\/image|engine\/rights|workloads\/kinds\/(deployment|revisioned-rights))\.ts$/
/** These read what a kubelet, an API server, a parser or the file system writes, or leave out a cause that is said already. */
const READS_OTHERS = /^src\/((kube|config)\/|pods\/(witness|image-pulls)\.ts$|cli\/(failures|run\/report-files)\.ts$)/
const SENTENCE = /[a-z]{2,} [a-z]{2,}/
const SEARCHES = new Set([
  'test',
  'exec',
  'match',
  'matchAll',
  'search',
  'includes',
  'startsWith',
  'endsWith',
  'indexOf',
  'split',
])
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

function isMessage(node: Node | undefined): boolean {
  if (node === undefined) return false
  if (node.type === 'Identifier') return MESSAGE.test(node.name ?? '')
  if (node.type === 'MemberExpression') return isMessage(node.property) || isMessage(node.object)
  if (node.type === 'CallExpression') return isMessage(node.callee)
  return node.type === 'ChainExpression' && isMessage(node.expression as Node)
}

function isSearch({ type, callee, arguments: given = [] }: Node): boolean {
  if (type !== 'CallExpression' || callee?.type !== 'MemberExpression' || !SEARCHES.has(callee.property?.name ?? '')) return false
  return isMessage(callee.object) || given.some(isMessage)
}

/** What a programmer gets to read whose code is wrong is no sentence for an operator. */
function isThrown({ type, callee }: Node): boolean {
  const name = callee?.name ?? ''
  return type === 'NewExpression' && name.endsWith('Error') && name !== 'RunError' && name !== 'WorkloadError'
}

function isError({ type, superClass }: Node): boolean {
  return type === 'ClassDeclaration' && (superClass as Node | null)?.name === 'Error'
}

function textOf({ type, value }: Node): string | undefined {
  const text = type === 'TemplateElement' ? (value as { cooked?: string }).cooked : value
  return type === 'TemplateElement' || (type === 'Literal' && typeof text === 'string') ? (text as string) : undefined
}

function foundIn(file: string): Found[] {
  const source = readFileSync(file, 'utf8')
  const found: Found[] = []
  const isDeciding = DECIDING.test(file) && !STATES_INPUT.test(file)
  const visit = (node: Node, mayState: boolean): void => {
    const told = mayState || isThrown(node) || isError(node)
    const at = (what: Found['what'], text: string): void =>
      void found.push({ file, line: source.slice(0, node.start).split('\n').length, what, text })
    const text = textOf(node)
    if (isDeciding && !told && text !== undefined && SENTENCE.test(text)) at('sentence', text)
    if (!READS_OTHERS.test(file) && isSearch(node)) at('search', source.slice(node.start, node.start! + 60))
    for (const child of children(node)) visit(child, told)
  }
  visit(parseAst(source, { lang: 'ts', sourceType: 'module' }) as unknown as Node, false)
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

const PLANTED: [string, Found['what'], string][] = [
  ['src/plan/planted-words.ts', 'sentence', "export const planted = 'the pod is gone'"],
  ['src/engine/planted-words.ts', 'sentence', 'export const planted = (pod: string): string => `${pod} is gone by now`'],
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
