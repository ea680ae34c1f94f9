import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const ROOT = resolve(import.meta.dirname, '../..')
const LARGEST_TREE = 512 * 1024 * 1024

/** The command line of the commit before, in a folder of its own, or the reason why there is none. */
export type BuildBefore = { kind: 'built'; commit: string; script: string; remove(): void } | { kind: 'none'; why: string }

/** Builds the former commit. Node runs its sources directly, so both builds need equal dependencies, by the lock file. */
export function buildBefore(named = process.env['SLUICE_BEFORE']): BuildBefore {
  const revision = named ?? 'HEAD~1'
  const found = git('rev-parse', '--verify', '--quiet', `${revision}^{commit}`)
  if (found === undefined) return { kind: 'none', why: `git has no commit ${revision} here: no history, or no git` }
  const commit = found.toString().trim()
  const lock = git('show', `${commit}:package-lock.json`)
  if (lock === undefined || !lock.equals(readFileSync(join(ROOT, 'package-lock.json'))))
    return { kind: 'none', why: `the package-lock.json of ${commit} is another one: its dependencies are not here` }
  const tree = git('archive', commit)
  if (tree === undefined) return { kind: 'none', why: `git has not all of commit ${commit}` }
  const folder = mkdtempSync(join(tmpdir(), 'sluice-before-'))
  const remove = (): void => rmSync(folder, { recursive: true, force: true })
  try {
    execFileSync('tar', ['-x', '-C', folder], { input: tree })
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  } catch (error) {
    remove()
    throw error
  }
  return { kind: 'built', commit, script: join(folder, 'src/cli/sluice.ts'), remove }
}

/**
 * Runs git. Undefined where git fails or is missing. The checkout of a CI may belong to another user, which git does not read by default.
 */
function git(...args: string[]): Buffer | undefined {
  const { status, stdout } = spawnSync('git', ['-c', 'safe.directory=*', ...args], {
    cwd: ROOT,
    maxBuffer: LARGEST_TREE,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  return status === 0 ? stdout : undefined
}
