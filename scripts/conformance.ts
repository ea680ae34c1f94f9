// Runs the conformance kit for every adapter, preset and example, on the real product where possible, and prints a line for each.
//   npm run conformance [-- --only NAME]
import { spawnSync } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'

interface Assertion {
  ancestorTitles: string[]
  title: string
  status: 'passed' | 'failed' | 'pending' | 'skipped' | 'todo'
}

interface VitestReport {
  testResults: { name: string; message: string; assertionResults: Assertion[] }[]
}

/** The results of one adapter on one load balancer. */
export interface Line {
  name: string
  /** `documented`: on a small server written by the product's documentation. `example`: on a load balancer of this repository. */
  on: 'real' | 'documented' | 'example'
  passed: number
  failed: number
  skipped: number
  /** The number of deliberately wrong adapters that their case has caught. */
  caught: number
}

const CASES = /^(.*) keeps the contract$/
const WRONG = /^(.*): an adapter fails that$/
const DOCUMENTED = /, as documented$/
/** A title with a version, such as `HAProxy 2.6.12 (installed)`. */
const PRODUCT = /\d+\.\d+/

/** Counts the results by adapter and product, in the order of the tests. */
export function linesOf({ testResults }: VitestReport): Line[] {
  const lines = new Map<string, Line>()
  for (const { ancestorTitles, status } of testResults.flatMap(({ assertionResults }) => assertionResults)) {
    const titles = ancestorTitles.filter((title) => title !== '')
    const own = titles.map((title) => CASES.exec(title) ?? WRONG.exec(title)).find((found) => found !== null)
    if (own == null) continue
    const [whole, adapter = ''] = own
    const around = titles.filter((title) => title !== whole)
    const product = around.find((title) => PRODUCT.test(title))
    const name = [adapter.replace(DOCUMENTED, ''), ...around].join(', ')
    const on = DOCUMENTED.test(adapter) ? 'documented' : product === undefined ? 'example' : 'real'
    const line = lines.get(name) ?? { name, on, passed: 0, failed: 0, skipped: 0, caught: 0 }
    lines.set(name, line)
    if (status === 'failed') line.failed += 1
    else if (status !== 'passed') line.skipped += 1
    else if (WRONG.test(whole)) line.caught += 1
    else line.passed += 1
  }
  return [...lines.values()]
}

/** Formats `nginx 1.31.3  real  20 passed, 0 failed, 1 not applicable, 15 wrong adapters caught`. */
export function lineText({ name, on, passed, failed, skipped, caught }: Line, width: number): string {
  const counts = `${passed} passed, ${failed} failed, ${skipped} not applicable, ${caught} wrong adapters caught`
  return `${name.padEnd(width)}  ${on.padEnd('documented'.length)}  ${counts}`
}

export function totalText(lines: readonly Line[]): string {
  const total = (of: (line: Line) => number): number => lines.reduce((sum, line) => sum + of(line), 0)
  const failed = total((line) => line.failed)
  return `${lines.length} adapters, ${total((line) => line.passed)} cases passed, ${failed} failed, ${total((line) => line.skipped)} skipped`
}

const root = resolve(import.meta.dirname, '..')

function main(): void {
  const { values } = parseArgs({ options: { only: { type: 'string' } } })
  const all = globSync('adapters/**/*conformance.test.ts', { cwd: root })
  const files = all.filter((file) => values.only === undefined || isAbout(file, values.only))
  if (files.length === 0) {
    console.error(`--only ${values.only}: there is no such adapter; there are: ${all.map(nameOf).toSorted().join(', ')}`)
    process.exitCode = 2
    return
  }
  const folder = mkdtempSync(join(tmpdir(), 'sluice-conformance-'))
  try {
    const report = join(folder, 'report.json')
    const args = [
      'run',
      '--project',
      'unit',
      '--project',
      'products',
      ...files,
      '--reporter',
      'json',
      `--outputFile.json=${report}`,
    ]
    const { status } = spawnSync(join(root, 'node_modules/.bin/vitest'), args, {
      cwd: root,
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    const read = JSON.parse(readFileSync(report, 'utf8')) as VitestReport
    for (const { name, message } of read.testResults) if (message !== '') console.log(`${name}: ${message}`)
    const lines = linesOf(read)
    const width = Math.max(...lines.map(({ name }) => name.length))
    for (const line of lines) console.log(lineText(line, width))
    console.log(totalText(lines))
    process.exitCode = status ?? 1
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Returns `nginx` for `adapters/nginx/conformance.test.ts`, and `caddy` for `adapters/presets/caddy.conformance.test.ts`. */
function nameOf(file: string): string {
  const own = basename(file, '.test.ts')
  return own === 'conformance' ? basename(resolve(root, file, '..')) : own.replace(/\.conformance$/, '')
}

function isAbout(file: string, name: string): boolean {
  return nameOf(file) === name
}

if (process.argv[1] === join(import.meta.dirname, 'conformance.ts')) main()
