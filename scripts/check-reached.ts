// Every place that makes a reason is reached by a unit test: runs them with a mark at each `code: '…'` in src and machines, and
// names the places without one. A process that a test starts is not seen. It takes as long as those tests: no part of `npm run lint`.
//   npm run check:reached
//   npm run check:reached -- src/engine/traffic   tests whose path has that in it; the other places are named too
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { parseAst } from 'rolldown/parseAst'
import { startVitest } from 'vitest/node'
import { adviceSamples, reasonSamples } from '../src/report/words/testing/samples.ts'

const ROOT = resolve(import.meta.dirname, '..')
const NO_CODE_OF_OURS = /\.test\.ts$|\/testing\//
/** There codes are declared, and put into words. */
const NO_MAKER = /^src\/(reasons|report\/words)\//

/** The issues of a config have codes of their own. */
const CODES: ReadonlySet<string> = new Set(Object.keys({ ...reasonSamples, ...adviceSamples }))

interface Node {
  type?: string
  start?: number
  end?: number
  name?: string
  value?: unknown
  key?: Node
}

interface Place {
  code: string
  start: number
  end: number
  line: number
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

/** The literals that a reason, or a piece of advice, gets as its code. */
function placesIn(source: string): Place[] {
  const visit = (node: Node): Node[] => {
    const own = node.type === 'Property' && node.key?.name === 'code' ? literals(node.value as Node) : []
    return [...own, ...children(node).flatMap(visit)]
  }
  const found = visit(parseAst(source, { lang: 'ts', sourceType: 'module' }) as unknown as Node).filter(({ value }) =>
    CODES.has(value as string),
  )
  return found.map(({ value, start, end }) => ({
    code: value as string,
    start: start!,
    end: end!,
    line: source.slice(0, start).split('\n').length,
  }))
}

/** Which places are ours to mark; those of a test are its expectations. */
function isMaker(file: string): boolean {
  return /^(src|machines)\/.*\.ts$/.test(file) && !NO_CODE_OF_OURS.test(file) && !NO_MAKER.test(file)
}

const nameOf = (file: string, { line, code }: Place): string => `${file}:${line} ${code}`

/** The same source, that writes the name of each place to `folder` when it first comes there. */
function marked(file: string, source: string, folder: string): string {
  let text = source
  for (const place of placesIn(source).toReversed()) {
    const mark = `globalThis.reached(${JSON.stringify(nameOf(file, place))})`
    text = `${text.slice(0, place.start)}(${mark}, ${text.slice(place.start, place.end)})${text.slice(place.end)}`
  }
  const log = JSON.stringify(join(folder, 'reached'))
  const write = `process.getBuiltinModule('node:fs').appendFileSync(${log}, place + '\\n')`
  const seen = `(globalThis.reachedPlaces ??= new Set())`
  // Before all else on the first line: some reasons are made while a module loads, and no line is to move.
  const head = `globalThis.reached ??= (place) => { if (!${seen}.has(place)) { ${seen}.add(place); ${write} } };`
  return text === source ? source : `${head} ${text}`
}

async function runMarked(filters: string[], folder: string): Promise<void> {
  const vitest = await startVitest(
    'test',
    filters,
    {
      root: ROOT,
      config: false,
      watch: false,
      // The marks name a folder of this run.
      fsModuleCache: false,
      include: ['{src,machines}/**/*.test.ts', 'test/{simulation,embedded}/**/*.test.ts'],
      exclude: ['**/*.long.test.ts', '**/*.large.test.ts', '**/*.process.test.ts'],
      reporters: ['dot'],
      testTimeout: 120_000,
    },
    {
      plugins: [
        {
          name: 'reached',
          enforce: 'pre',
          transform(source: string, id: string): string | undefined {
            const file = relative(ROOT, id.replace(/\?.*$/, ''))
            return isMaker(file) ? marked(file, source, folder) : undefined
          },
        },
      ],
    },
  )
  await vitest.close()
}

const folder = mkdtempSync(join(tmpdir(), 'sluice-reached-'))
try {
  const places = ['src', 'machines']
    .flatMap((top) => readdirSync(join(ROOT, top), { recursive: true, encoding: 'utf8' }).map((name) => join(top, name)))
    .filter(isMaker)
    .flatMap((file) => placesIn(readFileSync(join(ROOT, file), 'utf8')).map((place) => nameOf(file, place)))
  await runMarked(process.argv.slice(2), folder)
  const reached = new Set(readFileSync(join(folder, 'reached'), 'utf8').split('\n'))
  const missed = places.filter((place) => !reached.has(place))
  for (const place of missed) console.error(`${place}: no unit test makes it`)
  console.log(`reached: ${places.length - missed.length} of ${places.length} places that make a reason`)
  // What stands in no place is a mistake of the marks, not a reason.
  if (missed.length > 0 || [...reached].some((one) => one !== '' && !places.includes(one))) process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
