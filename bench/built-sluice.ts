import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

/** Builds sluice as it is installed, in a folder of its own. */
export function buildSluice(): { script: string; remove(): void } {
  const root = resolve(import.meta.dirname, '..')
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
  const build = spawnSync(process.execPath, [join(root, 'scripts/build.ts'), folder], { stdio: ['ignore', 'ignore', 'inherit'] })
  if (build.status !== 0) throw new Error('the build failed')
  // The package.json says that the files are modules. Without it, Node compiles each file twice to find that out.
  copyFileSync(join(root, 'package.json'), join(folder, 'package.json'))
  return { script: join(folder, 'cli/sluice.js'), remove: () => rmSync(folder, { recursive: true, force: true }) }
}
