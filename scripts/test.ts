// Runs all tests and says what came of them: `N skipped` where some were, and on the last line `N passed, N failed`.
// One run after another: tests on a real cluster need the machine to themselves, and some of them the cluster too. Tried: the
// simulation beside them, last on the processors, is six minutes less, and all requests of the first tests timed out for a minute.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

interface Report {
  numPassedTests: number
  numFailedTests: number
  numPendingTests: number
  numTodoTests: number
  numFailedTestSuites: number
  testResults: { name: string; status: string; message: string; assertionResults: unknown[] }[]
}

const folder = mkdtempSync(join(tmpdir(), 'sluice-tests-'))
const totals = { passed: 0, failed: 0, skipped: 0 }
let broken = false

try {
  for (const project of ['unit', 'simulation', 'demo', 'large', 'cluster', 'cluster-alone']) {
    const file = join(folder, `${project}.json`)
    const args = ['run', '--project', project, '--reporter', 'default', '--reporter', 'json', `--outputFile.json=${file}`]
    const code = await run('vitest', args)
    const report = readReport(file)
    if (report === undefined) {
      broken = true
      continue
    }
    totals.passed += report.numPassedTests
    totals.failed += report.numFailedTests
    totals.skipped += report.numPendingTests + report.numTodoTests
    // A file that cannot be loaded, or a leak that vitest reports, fails without any failed test.
    const unloaded = report.testResults.filter(
      ({ status, assertionResults }) => status === 'failed' && assertionResults.length === 0,
    )
    totals.failed += unloaded.length
    if (code !== 0 && report.numFailedTests + unloaded.length === 0) totals.failed += 1
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}

if (broken) totals.failed += 1
if (totals.skipped > 0) console.log(`${totals.skipped} skipped`)
console.log(`${totals.passed} passed, ${totals.failed} failed`)
process.exitCode = totals.failed === 0 && totals.passed > 0 ? 0 : 1

function run(command: string, args: string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: 'inherit' })
    child.once('error', reject)
    child.once('close', (code) => resolve(code ?? 1))
  })
}

function readReport(file: string): Report | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Report
  } catch {
    return undefined
  }
}
