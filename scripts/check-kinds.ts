// Finds names of workload kinds outside of src/workloads/kinds/, where one file describes a kind: a switch over kinds elsewhere would
// have to be found for each new kind. Then a planted name must be found: a search of nothing also says "none".
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAst } from 'rolldown/parseAst'

const FOLDERS = ['src', 'machines', 'adapters']
/** Words for people name kinds as examples. */
const ALLOWED =
  /^src\/(workloads\/kinds|report\/words|cli\/commands)\/|^src\/library\/request\/(selection|parse-choice)\.ts$|\.test\.ts$|\/testing\//
/** Matches within a word too, in lower case, in the plural and in a regular expression. */
const KINDS = /(stateful|daemon|replica)set|deployment/i
const PLANTED = 'src/plan/planted-kind.ts'

interface Node {
  type?: string
  value?: unknown
  name?: unknown
  regex?: { pattern: string }
  start?: number
}

function textOf({ type, value, name, regex }: Node): unknown {
  if (type === 'TemplateElement') return (value as { cooked?: string }).cooked
  if (type === 'Identifier') return name
  return type === 'Literal' ? (regex?.pattern ?? value) : undefined
}

interface Found {
  file: string
  line: number
  kind: string
}

/** Searches literals (also in types), templates and keys. */
function namedIn(file: string): Found[] {
  const source = readFileSync(file, 'utf8')
  const found: Found[] = []
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) return node.forEach(visit)
    if (typeof node !== 'object' || node === null) return
    const { start, ...parts } = node as Node
    const text = textOf(parts)
    if (typeof text === 'string' && KINDS.test(text))
      found.push({ file, line: source.slice(0, start).split('\n').length, kind: text })
    Object.values(node).forEach(visit)
  }
  visit(parseAst(source, { lang: 'ts', sourceType: 'module' }).body)
  return found
}

function search(): { files: number; found: Found[] } {
  const files = FOLDERS.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  ).filter((file) => file.endsWith('.ts') && !ALLOWED.test(file))
  return { files: files.length, found: files.flatMap(namedIn) }
}

const { files, found } = search()
for (const { file, line, kind } of found)
  console.error(
    `${file}:${line}: ${kind} is named outside of src/workloads/kinds/: give what it decides to the kind (docs/kinds.md)`,
  )
if (found.length > 0) process.exit(1)

const PLANTED_FORMS = [
  "one === 'StatefulSet'",
  'one === `DaemonSet`',
  "(one as 'Deployment')",
  '{ ReplicaSet: one }',
  "one.toLowerCase() === 'statefulset'",
  "one.startsWith('apps/v1/DaemonSet')",
  '/^deployments$/.test(one)',
]

try {
  const lines = PLANTED_FORMS.map((form) => `  ${form},`)
  writeFileSync(PLANTED, ['export const planted = (one: string): unknown[] => [', ...lines, ']', ''].join('\n'))
  const seen = new Set(search().found.flatMap(({ file, line }) => (file === PLANTED ? [line] : [])))
  const missed = PLANTED_FORMS.filter((_, index) => !seen.has(index + 2))
  if (missed.length > 0) {
    console.error(`Planted and not found: ${missed.join('; ')}: the search for kinds finds nothing.`)
    process.exit(1)
  }
} finally {
  rmSync(PLANTED, { force: true })
}
console.log(`kinds: ${files} files, none names one; those that were planted were found`)
