// Runs all tests and prints the totals: `N skipped` where some were, and `N passed, N failed` on the last line.
// `--also-on 1.32` also runs some tests of a real cluster on another version of Kubernetes.
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { constants, setPriority, tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { versionNamed } from '../test/cluster/kubernetes-versions.ts'
import { shortVersionTests } from '../test/cluster/version-tests.ts'

/** These projects run one after another: tests on a real cluster need the machine to themselves, and some of them the cluster too. */
const IN_TURN = ['demo', 'large', 'cluster', 'cluster-alone']
/** These projects run first: tests that wait for real load balancers, and tests that do not. */
const FIRST = ['unit', 'products']
/**
 * The simulation never waits, so it runs beside the projects after the first, which leave most of the processors idle. Measured on two
 * processors: it gets a third of them, and the others take no longer.
 */
const BESIDE_ALL_BUT_THE_FIRST = 'simulation'

interface Report {
  numPassedTests: number
  numPendingTests: number
  numTodoTests: number
  testResults: TestFile[]
}

interface TestFile {
  name: string
  status: string
  /** The reason why the file as a whole failed, for example because it cannot be loaded. */
  message: string
  assertionResults: { fullName: string; status: string; failureMessages: string[] | null }[]
}

const { values } = parseArgs({ options: { 'also-on': { type: 'string', multiple: true, default: [] } } })
const alsoOn = values['also-on'].map((version) => versionNamed(version, '--also-on'))
const folder = mkdtempSync(join(tmpdir(), 'sluice-tests-'))
const totals = { passed: 0, skipped: 0 }
/** The failures, in words. The end of the output repeats them, since the tail of a long output is read most. */
const failures: string[] = []
const running = new Set<() => void>()
let ended = false

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    ended = true
    for (const end of running) end()
  })
}

try {
  await Promise.all(FIRST.map((project) => runProject(project)))
  await Promise.all([runProject(BESIDE_ALL_BUT_THE_FIRST, { isLast: true }), runInTurn(IN_TURN)])
} finally {
  rmSync(folder, { recursive: true, force: true })
}

for (const failure of failures) console.log(`\n${failure}`)
if (totals.skipped > 0) console.log(`${totals.skipped} skipped`)
console.log(`${totals.passed} passed, ${failures.length} failed`)
process.exitCode = failures.length === 0 && totals.passed > 0 ? 0 : 1

async function runInTurn(projects: readonly string[]): Promise<void> {
  for (const project of projects) await runProject(project)
  for (const version of alsoOn) await runProject('cluster', { files: shortVersionTests, version })
}

interface RunOptions {
  isLast?: boolean
  /** The files of the project. Absent means all. */
  files?: readonly string[]
  /** The version of Kubernetes. */
  version?: string
}

async function runProject(name: string, { isLast = false, files = [], version }: RunOptions = {}): Promise<void> {
  const project = version === undefined ? name : `${name} on Kubernetes ${version}`
  const file = join(folder, `${project}.json`)
  const args = ['run', '--project', name, ...files, '--reporter', 'default', '--reporter', 'json', `--outputFile.json=${file}`]
  const env = version === undefined ? process.env : { ...process.env, SLUICE_KUBERNETES: version }
  const code = ended ? 1 : await run('vitest', args, { isLast, env })
  const report = readReport(file)
  if (report === undefined) {
    failures.push(`FAILED ${project}: vitest ended with ${code}, and without a report`)
    return
  }
  totals.passed += report.numPassedTests
  totals.skipped += report.numPendingTests + report.numTodoTests
  const failed = report.testResults.flatMap(failuresOf)
  // Vitest exits with 1 where an error belongs to no test, such as an uncaught one.
  if (code !== 0 && failed.length === 0) failed.push(`vitest ended with ${code}, though no test failed: see above`)
  failures.push(...failed.map((failure) => `FAILED ${project}: ${failure}`))
}

/** Returns one failure for each failed test, or one for a file that cannot be loaded or set up. */
function failuresOf({ name, status, message, assertionResults }: TestFile): string[] {
  const path = relative(process.cwd(), name)
  const failed = assertionResults.filter((test) => test.status === 'failed')
  if (status === 'failed' && failed.length === 0) return [`${path}\n${message}`]
  return failed.map((test) => `${path} > ${test.fullName}\n${(test.failureMessages ?? []).join('\n')}`)
}

/** Runs a command. The project with the lowest priority prints its output in one piece, at its end. */
function run(command: string, args: string[], { isLast, env }: { isLast: boolean; env: NodeJS.ProcessEnv }): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: isLast ? ['ignore', 'pipe', 'pipe'] : 'inherit', detached: isLast, env })
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
 * Linux first divides the processors between sessions (sched_autogroup), and each Kubernetes, HAProxy and sluice of the tests has its
 * own. A nice value alone does not cross sessions: requests of the tests timed out with it.
 */
function comeLast({ pid }: ChildProcess): void {
  if (pid === undefined) return
  setPriority(pid, constants.priority.PRIORITY_LOW)
  try {
    writeFileSync(`/proc/${pid}/autogroup`, String(constants.priority.PRIORITY_LOW))
  } catch {
    // Not every system has autogroups. The nice value counts there.
  }
}

function readReport(file: string): Report | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Report
  } catch {
    return undefined
  }
}
