// The places in src and machines that make a reason, and the same sources with a mark at each.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAst } from 'rolldown/parseAst'
import { adviceSamples, reasonSamples } from '../../src/report/words/testing/samples.ts'

const NO_CODE_OF_OURS = /\.test\.ts$|\/testing\//
/** These files declare codes, or put them into words. */
const NO_MAKER = /^src\/(reasons|report\/words)\//

/** The issues of a config have codes of their own. */
export const CODES: ReadonlySet<string> = new Set(Object.keys({ ...reasonSamples, ...adviceSamples }))

export interface Place {
  file: string
  code: string
  start: number
  end: number
  line: number
}

interface Node {
  type?: string
  start?: number
  end?: number
  name?: string
  value?: unknown
  key?: Node
}

function children(node: Node): Node[] {
  return Object.values(node)
    .flat()
    .filter((one): one is Node => typeof one === 'object' && one !== null)
}

function literals(node: Node): Node[] {
  if (node.type?.startsWith('TSType') || node.type === 'BinaryExpression' || node.type === 'CallExpression') return []
  if (node.type === 'Literal' && typeof node.value === 'string') return [node]
  return children(node).flatMap(literals)
}

/** Returns the literals that a reason, or a piece of advice, gets as its code. */
function placesIn(file: string, source: string): Place[] {
  const visit = (node: Node): Node[] => {
    const own = node.type === 'Property' && node.key?.name === 'code' ? literals(node.value as Node) : []
    return [...own, ...children(node).flatMap(visit)]
  }
  const found = visit(parseAst(source, { lang: 'ts', sourceType: 'module' }) as unknown as Node).filter(({ value }) =>
    CODES.has(value as string),
  )
  return found.map(({ value, start, end }) => ({
    file,
    code: value as string,
    start: start!,
    end: end!,
    line: source.slice(0, start).split('\n').length,
  }))
}

/** Returns all places. Tests are left out, since their codes are expectations. */
export function allPlaces(root: string): Place[] {
  return ['src', 'machines']
    .flatMap((top) => readdirSync(join(root, top), { recursive: true, encoding: 'utf8' }).map((name) => join(top, name)))
    .filter((file) => file.endsWith('.ts') && !NO_CODE_OF_OURS.test(file) && !NO_MAKER.test(file))
    .flatMap((file) => placesIn(file, readFileSync(join(root, file), 'utf8')))
}

export const nameOf = ({ file, line, code }: Place): string => `${file}:${line} ${code}`

/** Returns the source with marks. Each place writes its name to the file `log` when it is first reached. */
export function marked(source: string, places: readonly Place[], log: string): string {
  let text = source
  for (const place of places.toSorted((a, b) => b.start - a.start)) {
    const mark = `globalThis.reached(${JSON.stringify(nameOf(place))})`
    text = `${text.slice(0, place.start)}(${mark}, ${text.slice(place.start, place.end)})${text.slice(place.end)}`
  }
  const write = `process.getBuiltinModule('node:fs').appendFileSync(${JSON.stringify(log)}, place + '\\n')`
  const seen = `(globalThis.reachedPlaces ??= new Set())`
  // The head is on the first line: some reasons are made while a module loads, and no line may move.
  const head = `globalThis.reached ??= (place) => { if (!${seen}.has(place)) { ${seen}.add(place); ${write} } };`
  return `${head} ${text}`
}
