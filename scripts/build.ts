// Builds into dist/, or into the given folder: the library with tsc, the command line as a bundle.
//   node scripts/build.ts [FOLDER]
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { bundleCommandLine } from './bundle-command-line.ts'

const root = resolve(import.meta.dirname, '..')
const outDir = resolve(process.argv[2] ?? join(root, 'dist'))

function emptyOutDir(): void {
  // Removes only the output of a build, since the argument may be any folder.
  for (const folder of ['cli', 'src', 'adapters', 'machines', 'demo'])
    rmSync(join(outDir, folder), { recursive: true, force: true })
}

function buildLibrary(): void {
  const tsc = join(root, 'node_modules/.bin/tsc')
  const { status } = spawnSync(tsc, ['--project', join(root, 'tsconfig.build.json'), '--outDir', outDir], { stdio: 'inherit' })
  if (status !== 0) throw new Error('tsc failed: the library is not built')
}

/** Copies the presets, which the library and the command line read at run time. */
function copyPresets(): void {
  const folder = join(outDir, 'adapters/presets')
  mkdirSync(folder, { recursive: true })
  const files = readdirSync(join(root, 'adapters/presets')).filter((file) => file.endsWith('.yaml'))
  for (const file of files) copyFileSync(join(root, 'adapters/presets', file), join(folder, file))
}

emptyOutDir()
buildLibrary()
copyPresets()
const files = await bundleCommandLine(join(outDir, 'cli'))
console.log(`built ${outDir}: the command line in ${files} files`)
