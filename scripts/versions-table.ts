// The results of `npm run test:versions`, in test/golden/versions.json, and as the table of versions in the README.
//   node scripts/versions-table.ts
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')
const RESULTS = join(root, 'test/golden/versions.json')
const README = join(root, 'README.md')
const TABLE = /(<!-- scripts\/versions-table\.ts -->\n)[\s\S]*?(?=<!-- end -->)/

/** The newest run on one version. */
export interface VersionResult {
  /** The version with its patch number, as the API server reports it. */
  version: string
  date: string
  commit: string
  /** The number of passed tests. */
  passed: number
  failed: number
  requests: number
  failedRequests: number
  /** The number of times that each form of proof came. */
  proofs: Record<string, number>
}

export function readResults(): VersionResult[] {
  return JSON.parse(readFileSync(RESULTS, 'utf8')) as VersionResult[]
}

/** Replaces the result of the same minor version. */
export function keepResult(result: VersionResult): void {
  const others = readResults().filter(({ version }) => minorOf(version) !== minorOf(result.version))
  const all = [...others, result].sort((a, b) => (minorOf(a.version) < minorOf(b.version) ? -1 : 1))
  writeFileSync(RESULTS, `${JSON.stringify(all, undefined, 2)}\n`)
  writeFileSync(README, currentReadme())
}

/** Returns the up-to-date README. */
export function currentReadme(): string {
  const text = readFileSync(README, 'utf8')
  if (!TABLE.test(text)) throw new Error('README.md has no place for the table of versions')
  return text.replace(TABLE, (_, mark: string) => `${mark}\n${table(readResults())}\n`)
}

export function table(results: readonly VersionResult[]): string {
  const rows = results.map(({ version, date, commit, passed, failed, requests, failedRequests, proofs }) => [
    version.replace('v', ''),
    date,
    `\`${commit}\``,
    failed === 0 ? `${passed} passed` : `${passed} passed, ${failed} failed`,
    `${failedRequests.toLocaleString('en')} of ${requests.toLocaleString('en')}`,
    ['witness', 'generation', 'event', 'image', 'quiet']
      .flatMap((form) => (form in proofs ? [`${form} ${proofs[form]}`] : []))
      .join(', '),
  ])
  const head = ['Kubernetes', 'date', 'commit', 'tests', 'failed requests', 'proofs of a restart']
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |\n`).join('')
}

function minorOf(version: string): string {
  return version.replace(/\.\d+$/, '')
}

if (process.argv[1] === join(import.meta.dirname, 'versions-table.ts')) {
  writeFileSync(README, currentReadme())
  console.log('README.md is written')
}
