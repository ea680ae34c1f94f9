// Checks the import graph against .dependency-cruiser.cjs, and then a planted violation, which must be found: a checker that parses
// nothing also says "no violations".
import { spawnSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'

const FOLDERS = ['src', 'machines', 'adapters', 'sim', 'demo', 'test', 'bench', 'scripts']
const PLANTED = 'machines/planted-violation.ts'

interface CruiseResult {
  summary: { totalCruised: number; violations: { from: string; to: string; rule: { name: string } }[] }
}

function cruise(): CruiseResult['summary'] {
  const { existsSync } = process.getBuiltinModule('node:fs')
  const folders = FOLDERS.filter((folder) => existsSync(folder))
  const args = ['--config', '.dependency-cruiser.cjs', '--output-type', 'json', ...folders]
  const run = spawnSync('node_modules/.bin/depcruise', args, { encoding: 'utf8', maxBuffer: 1 << 28 })
  if (!run.stdout.startsWith('{')) throw new Error(`depcruise failed: ${run.stderr}${run.stdout}`)
  return (JSON.parse(run.stdout) as CruiseResult).summary
}

const clean = cruise()
for (const { from, to, rule } of clean.violations) console.error(`${from} → ${to}: ${rule.name}`)
if (clean.violations.length > 0) process.exit(1)

try {
  writeFileSync(PLANTED, "import type { KubeClient } from '../src/kube/client.ts'\nexport type Planted = KubeClient\n")
  const planted = cruise()
  if (!planted.violations.some(({ from }) => from === PLANTED)) {
    console.error('The planted import of src/kube from machines/ was not found: the import check checks nothing.')
    process.exit(1)
  }
} finally {
  rmSync(PLANTED, { force: true })
}
console.log(`imports: ${clean.totalCruised} modules, no violation; the planted one was found`)
