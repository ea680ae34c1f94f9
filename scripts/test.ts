// Runs all tests and says what came of them: `N skipped` where some were, and on the last line `N passed, N failed`.
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { constants, setPriority, tmpdir } from 'node:os'
import { join } from 'node:path'

/** One after another: tests on a real cluster need the machine to themselves, and some of them the cluster too. */
const IN_TURN = ['unit', 'demo', 'large', 'cluster', 'cluster-alone']
/**
 * Nothing in the simulation waits, and in the projects after the first hardly anything else is done: it gets what they leave
 * of the processors. Measured on two of them: a third of the processors, and the others take no longer for it.
 */
const BESIDE_ALL_BUT_THE_FIRST = 'simulation'

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
const running = new Set<() => void>()
let broken = false
let ended = false

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    ended = true
    for (const end of running) end()
  })
}

try {
  const [first, ...others] = IN_TURN
  await runProject(first!)
  await Promise.all([runProject(BESIDE_ALL_BUT_THE_FIRST, { isLast: true }), runInTurn(others)])
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

async function runProject(project: string, { isLast = false } = {}): Promise<void> {
  const file = join(folder, `${project}.json`)
  const args = ['run', '--project', project, '--reporter', 'default', '--reporter', 'json', `--outputFile.json=${file}`]
  const code = ended ? 1 : await run('vitest', args, { isLast })
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

/** What comes last on the processors says in one piece, at its end, what it has to say. */
function run(command: string, args: string[], { isLast }: { isLast: boolean }): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: isLast ? ['ignore', 'pipe', 'pipe'] : 'inherit', detached: isLast })
    if (isLast) comeLast(child)
    const end = (): void => void (isLast ? process.kill(-child.pid!, 'SIGTERM') : child.kill('SIGTERM'))
    running.add(end)
    const output: Buffer[] = []
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => output.push(chunk))
    child.once('error', reject)
    child.once('close', (code) => {
      running.delete(end)
      process.stdout.write(Buffer.concat(output))
      resolve(code ?? 1)
    })
  })
}

/**
 * Linux shares the processors between sessions first (sched_autogroup), and each Kubernetes, HAProxy and sluice of the tests has
 * one of its own: a nice value alone means nothing to them. Measured: with that alone, requests of the tests timed out.
 */
function comeLast({ pid }: ChildProcess): void {
  if (pid === undefined) return
  setPriority(pid, constants.priority.PRIORITY_LOW)
  try {
    writeFileSync(`/proc/${pid}/autogroup`, String(constants.priority.PRIORITY_LOW))
  } catch {
    // Not every system has it; the nice value counts there.
  }
}

function readReport(file: string): Report | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Report
  } catch {
    return undefined
  }
}
