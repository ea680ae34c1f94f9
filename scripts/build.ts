// Builds into dist/, or into the folder given: the library by tsc, the command line as a bundle.
//   node scripts/build.ts [FOLDER]
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { rolldown, type OutputChunk, type Plugin } from 'rolldown'

const root = resolve(import.meta.dirname, '..')
const outDir = resolve(process.argv[2] ?? join(root, 'dist'))
const cliDir = join(outDir, 'cli')

function emptyOutDir(): void {
  // Only what a build has made: the argument may be any folder.
  for (const folder of ['cli', 'src', 'adapters', 'machines']) rmSync(join(outDir, folder), { recursive: true, force: true })
}

function buildLibrary(): void {
  const tsc = join(root, 'node_modules/.bin/tsc')
  const { status } = spawnSync(tsc, ['--project', join(root, 'tsconfig.build.json'), '--outDir', outDir], { stdio: 'inherit' })
  if (status !== 0) throw new Error('tsc failed: the library is not built')
}

/**
 * Of client-node the kubeconfig alone, without the generated API, which is nine tenths of it and costs a third of the time
 * that a command takes to begin. Types come from the package as it is.
 */
function kubeconfigAlone(): Plugin {
  const config = join(root, 'node_modules/@kubernetes/client-node/dist/config.js')
  const unused: Record<string, readonly string[]> = {
    './gen/index.js': ['createConfiguration', 'ServerConfiguration'],
    './middleware.js': ['setHeaderMiddleware'],
  }
  return {
    name: 'kubeconfig-alone',
    resolveId(source, importer) {
      if (source === '@kubernetes/client-node') return config
      return importer === config && source in unused ? `\0unused ${source}` : null
    },
    load(id) {
      const names = id.startsWith('\0unused ') ? unused[id.slice('\0unused '.length)] : undefined
      return names?.map((name) => `export const ${name} = undefined`).join('\n') ?? null
    },
  }
}

/** What `sluice demo` starts as processes of their own: demo/processes/program-file.ts looks for them here. */
function demoPrograms(): Record<string, string> {
  const files = readdirSync(join(root, 'demo/programs')).filter((file) => !file.endsWith('.test.ts'))
  return Object.fromEntries(files.map((file) => [`demo-${basename(file, '.ts')}`, `demo/programs/${file}`]))
}

/** One file for each import that is lazy in the source, so that `--help` still loads nothing but commander. */
async function bundleCommandLine(): Promise<OutputChunk[]> {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
  const bundle = await rolldown({
    cwd: root,
    input: { sluice: 'src/cli/sluice.ts', ...demoPrograms() },
    platform: 'node',
    plugins: [kubeconfigAlone()],
    transform: { target: 'node22.18', define: { SLUICE_VERSION: JSON.stringify(version) } },
    logLevel: 'warn',
  })
  try {
    const { output } = await bundle.write({
      dir: cliDir,
      format: 'esm',
      entryFileNames: '[name].js',
      chunkFileNames: '[name]-[hash].js',
    })
    chmodSync(join(cliDir, 'sluice.js'), 0o755)
    return output.filter((file) => file.type === 'chunk')
  } finally {
    await bundle.close()
  }
}

/** The bundle holds the code of other people, whose licenses ask to travel along. */
function writeLicenses(chunks: readonly OutputChunk[]): void {
  const packages = new Set(
    chunks.flatMap(({ moduleIds }) =>
      moduleIds.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id.replace(/^\0/, ''))?.[0] ?? []),
    ),
  )
  const notices = [...packages].sort().map((folder) => {
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
      name: string
      version: string
      license?: string
    }
    const files = existsSync(folder) ? readdirSync(folder).filter((name) => /^(licen[cs]e|notice)/i.test(name)) : []
    const texts = files.map((name) => readFileSync(join(folder, name), 'utf8').trim())
    return [`${manifest.name} ${manifest.version} (${manifest.license ?? 'see its text'})`, ...texts].join('\n\n')
  })
  writeFileSync(join(cliDir, 'THIRD-PARTY-LICENSES.txt'), `${notices.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`)
}

emptyOutDir()
buildLibrary()
const chunks = await bundleCommandLine()
writeLicenses(chunks)
console.log(`built ${outDir}: the command line in ${chunks.length} files`)
