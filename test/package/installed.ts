import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'

const ROOT = resolve(import.meta.dirname, '../..')

/** A folder outside of the repository with the packed tarball installed, as a program that uses the library has it. */
export interface Installed {
  folder: string
  /** Runs a TypeScript file of the folder; ends when the process has ended by itself. */
  run(file: string, env?: Record<string, string>): Promise<{ code: number | null; stdout: string; stderr: string }>
  /** What `tsc --noEmit` says of these files, strictly: with the declarations of all packages, or with the strictest options. */
  compile(files: string[], how?: 'declarations' | 'strictest'): string
  remove(): void
}

/** Builds, packs, and installs: with the dependencies of the package alone, and the types of Node. */
export function installPackage(): Installed {
  const packing = mkdtempSync(join(tmpdir(), 'sluice-packing-'))
  const folder = mkdtempSync(join(tmpdir(), 'sluice-installed-'))
  try {
    pack(packing)
    const target = join(folder, 'node_modules/sluice')
    mkdirSync(target, { recursive: true })
    succeed('tar', ['-xzf', join(packing, 'package.tgz'), '-C', target, '--strip-components=1'])
  } finally {
    rmSync(packing, { recursive: true, force: true })
  }
  copyDependencies(folder)
  // What a program in TypeScript has itself.
  for (const types of ['@types/node', 'undici-types']) copyModule(join(ROOT, 'node_modules', types), folder)
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'app', private: true, type: 'module' }))
  return {
    folder,
    async run(file, env = {}) {
      const child = spawn(process.execPath, [file], { cwd: folder, env: { HOME: folder, PATH: process.env['PATH'], ...env } })
      let stdout = ''
      let stderr = ''
      child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
      child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
      const [code] = (await once(child, 'close')) as [number | null]
      return { code, stdout, stderr }
    },
    compile(files, how = 'declarations') {
      // XState's own declarations are not right by it.
      const isStrictest = how === 'strictest'
      const compilerOptions = {
        target: 'es2024',
        lib: ['es2024'],
        module: 'nodenext',
        types: ['node'],
        strict: true,
        exactOptionalPropertyTypes: isStrictest,
        noUncheckedIndexedAccess: true,
        noEmit: true,
        allowImportingTsExtensions: true,
        skipLibCheck: isStrictest,
      }
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
      const tsc = join(ROOT, 'node_modules/.bin/tsc')
      return spawnSync(tsc, ['--project', folder], { encoding: 'utf8', cwd: folder }).stdout
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** As npm packs it, of what is built now: `package.tgz` in that folder. */
export function pack(folder: string): void {
  const { files } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { files: string[] }
  const own = files.filter((file) => file !== 'dist' && !file.includes('*'))
  for (const file of ['package.json', 'README.md', ...own]) cpSync(join(ROOT, file), join(folder, file), { recursive: true })
  succeed(process.execPath, [join(ROOT, 'scripts/build.ts'), join(folder, 'dist')])
  const packed = succeed('npm', ['pack', '--json', '--offline', '--ignore-scripts'], folder)
  const [{ filename }] = JSON.parse(packed) as [{ filename: string }]
  cpSync(join(folder, filename), join(folder, 'package.tgz'))
}

/** Into `node_modules` of that folder, where npm finds them in place and asks no registry. */
export function copyDependencies(folder: string): void {
  for (const dependency of productionDependencies()) copyModule(dependency, folder)
}

/** Their folders, those of their own dependencies among them. */
function productionDependencies(): string[] {
  const listed = succeed('npm', ['ls', '--omit=dev', '--all', '--parseable', '--offline'], ROOT)
  return listed.split('\n').filter((line) => line.startsWith(join(ROOT, 'node_modules')))
}

function copyModule(from: string, folder: string): void {
  cpSync(from, join(folder, relative(ROOT, from)), { recursive: true, dereference: true })
}

function succeed(command: string, args: string[], cwd?: string): string {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', ...(cwd === undefined ? {} : { cwd }) })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stdout}${stderr}`)
  return stdout
}
