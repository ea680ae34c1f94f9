// Runs the chosen tests on versions of Kubernetes, one after another, and keeps the results as the table of versions in the README.
//   npm run test:versions [-- 1.32 1.37]
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { kubernetesVersions, versionNamed } from '../test/cluster/kubernetes-versions.ts'
import { assertClusterSupport } from '../test/cluster/support.ts'
import type { Tallied } from '../test/cluster/tally.ts'
import { versionTests } from '../test/cluster/version-tests.ts'
import type { VersionResult } from './versions-table.ts'
import { keepResult, table } from './versions-table.ts'

const named = process.argv.slice(2).map((version) => versionNamed(version, 'test:versions'))
await assertClusterSupport()
const commit = currentCommit()
const results: VersionResult[] = []
for (const version of named.length > 0 ? named : kubernetesVersions) {
  const result = runOn(version)
  // Without a cluster there is no result.
  if (result === undefined) process.exitCode = 1
  else {
    keepResult(result)
    results.push(result)
  }
}
console.log(`\n${table(results)}`)
if (results.some(({ failed, failedRequests }) => failed + failedRequests > 0)) process.exitCode = 1

function runOn(version: string): VersionResult | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-versions-'))
  try {
    const tallied = join(folder, 'tally')
    const counts = { passed: 0, failed: 0 }
    for (const [project, files] of Object.entries(versionTests)) {
      const file = join(folder, `${project}.json`)
      const args = ['run', '--project', project, ...files, '--reporter', 'default', '--reporter', 'json']
      const env = { ...process.env, SLUICE_KUBERNETES: version, SLUICE_TALLY: tallied, SLUICE_CLUSTER: '' }
      const { status } = spawnSync('vitest', [...args, `--outputFile.json=${file}`], { stdio: 'inherit', env })
      const report = JSON.parse(readFileSync(file, 'utf8')) as { numPassedTests: number; numFailedTests: number }
      counts.passed += report.numPassedTests
      // A file that fails as a whole has no failed test.
      counts.failed += status === 0 ? 0 : Math.max(1, report.numFailedTests)
    }
    return resultOf(readFileSync(tallied, 'utf8'), counts)
  } catch (error) {
    console.error(`Kubernetes ${version}: ${error instanceof Error ? error.message : String(error)}`)
    return undefined
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function resultOf(tallied: string, counts: { passed: number; failed: number }): VersionResult {
  const result = { version: '', date: new Date().toISOString().slice(0, 10), commit, ...counts, requests: 0, failedRequests: 0 }
  const proofs: Record<string, number> = {}
  for (const line of tallied.trimEnd().split('\n')) {
    const seen = JSON.parse(line) as Tallied
    if ('kubernetes' in seen) result.version = seen.kubernetes
    else if ('proof' in seen) proofs[seen.proof] = (proofs[seen.proof] ?? 0) + 1
    else {
      result.requests += seen.requests
      result.failedRequests += seen.failed
    }
  }
  return { ...result, proofs }
}

/** Returns the commit, with a note where the tree differs from it. The results themselves do not count as a difference. */
function currentCommit(): string {
  const git = (...args: string[]): string => execFileSync('git', args, { encoding: 'utf8' }).trim()
  const changed = git('status', '--porcelain', '--', '.', ':!README.md', ':!test/golden')
  return `${git('rev-parse', '--short', 'HEAD')}${changed === '' ? '' : ' and changes'}`
}
