// Runs all tests and says what came of them: `N skipped` where some were, and on the last line `N passed, N failed`.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { constants, setPriority, tmpdir } from 'node:os'
import { join } from 'node:path'

const FIRST = ['unit', 'demo', 'large']
/** One after another: tests on a real cluster share it, and some of them need it to themselves. */
const ON_A_CLUSTER = ['cluster', 'cluster-alone']
/**
 * Nothing in the simulation waits, and on a cluster hardly anything else is done: it gets what they leave of the processors,
 * and no more. Measured on two of them: 26 minutes of work took 33 when it had its own turn.
 */
const BESIDE_THEM = 'simulation'

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
  await runInTurn(FIRST)
  await Promise.all([runProject(BESIDE_THEM, { isBeside: true }), runInTurn(ON_A_CLUSTER)])
} finally {
  rmSync(folder, { recursive: true, force: true })
}

if (broken) totals.failed += 1
if (totals.skipped > 0) console.log(`${totals.skipped} skipped`)
console.log(`${totals.passed} passed, ${totals.failed} failed`)
process.exitCode = totals.failed === 0 && totals.passed > 0 ? 0 : 1

async function runInTurn(projects: readonly string[]): Promise<void> {
  for (const project of projects) await runProject(project)
}

async function runProject(project: string, { isBeside } = { isBeside: false }): Promise<void> {
  const file = join(folder, `${project}.json`)
  const args = ['run', '--project', project, '--reporter', 'default', '--reporter', 'json', `--outputFile.json=${file}`]
  const code = await run('vitest', args, { isBeside })
  const report = readReport(file)
  if (report === undefined) {
    broken = true
    return
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

/** Beside others it comes last on the processors, as do all that it starts, and its output comes in one piece. */
function run(command: string, args: string[], { isBeside }: { isBeside: boolean }): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: isBeside ? ['ignore', 'pipe', 'pipe'] : 'inherit' })
    if (isBeside && child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW)
    const output: Buffer[] = []
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => output.push(chunk))
    child.once('error', reject)
    child.once('close', (code) => {
      process.stdout.write(Buffer.concat(output))
      resolve(code ?? 1)
    })
  })
}

function readReport(file: string): Report | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Report
  } catch {
    return undefined
  }
}
