import { createHash } from 'node:crypto'
import { mkdir, readFile, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isAlive, recordProcess } from './process-record.ts'
import type { ProcessRecord } from './process-record.ts'

export interface CachedBuild {
  name: string
  /** The files and folders whose content decides whether an earlier result is valid. */
  sources: string[]
  /** A further input of that decision: the version of the compiler. */
  salt: string
  /** Fills the empty folder `target`, which becomes `home` once it is complete. */
  build: (target: string, home: string) => Promise<void>
}

/** The age after which an unused result is removed, when any result is built. Results have hundreds of megabytes. */
const keptUnusedMs = 7 * 24 * 3_600_000

/** Returns the folder with the result of a build, and builds it if needed. Processes with one build wait for each other. */
export async function cachedBuild(options: CachedBuild): Promise<string> {
  const target = join(cacheFolder(), `${options.name}-${await hashSources(options.sources, options.salt)}`)
  if (await touch(target)) {
    return target
  }
  await mkdir(cacheFolder(), { recursive: true })
  const unlock = await lock(`${target}.lock`)
  try {
    if (!(await touch(target))) {
      process.stderr.write(`tests: building ${options.name} (may take minutes the first time, cached afterwards)\n`)
      await buildInto(target, options.build)
      await removeUnused()
    }
    return target
  } finally {
    await unlock()
  }
}

function cacheFolder(): string {
  return join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'sluice', 'cluster')
}

/** Builds under another name until the result is complete, so that no process uses half of it. */
async function buildInto(target: string, build: CachedBuild['build']): Promise<void> {
  const unfinished = `${target}.tmp`
  await rm(unfinished, { recursive: true, force: true })
  await mkdir(unfinished)
  try {
    await build(unfinished, target)
    await rename(unfinished, target)
  } finally {
    await rm(unfinished, { recursive: true, force: true })
  }
}

async function removeUnused(): Promise<void> {
  for (const entry of await readdir(cacheFolder())) {
    const path = join(cacheFolder(), entry)
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Infinity }))
    if (mtimeMs < Date.now() - keptUnusedMs) {
      await rm(path, { recursive: true, force: true })
    }
  }
}

async function hashSources(sources: string[], salt: string): Promise<string> {
  const hash = createHash('sha256').update(salt)
  for (const source of sources) {
    for (const { name, path } of await filesOf(source)) {
      hash.update(`\0${name}\0`).update(await readFile(path))
    }
  }
  return hash.digest('hex').slice(0, 16)
}

/** Returns the files with names relative to the source, so that two checkouts share a result. */
async function filesOf(source: string): Promise<{ name: string; path: string }[]> {
  if ((await stat(source)).isFile()) {
    return [{ name: '', path: source }]
  }
  const entries = await readdir(source, { recursive: true, withFileTypes: true })
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  return paths.sort().map((path) => ({ name: path.slice(source.length), path }))
}

/** Takes a lock: a file that is made exclusively and holds its owner. The lock of a dead process is taken over. */
async function lock(path: string): Promise<() => Promise<void>> {
  const me = JSON.stringify(recordProcess('lock', process.pid))
  for (let attempt = 0; attempt < 3_600; attempt++) {
    try {
      await writeFile(path, me, { flag: 'wx' })
      return () => rm(path, { force: true })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    const owner = await readOwner(path)
    if (owner !== undefined && !isAlive(owner)) {
      // Only the process whose rename succeeds removes the file.
      const stale = `${path}.${process.pid}.stale`
      await rename(path, stale).catch(() => {})
      await rm(stale, { force: true })
      continue
    }
    await sleep(500)
  }
  throw new Error(`another process has held ${path} for half an hour`)
}

async function readOwner(path: string): Promise<ProcessRecord | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as ProcessRecord
  } catch {
    return undefined // gone, or not written to its end yet
  }
}

/** Marks a folder as used now. Returns true where it exists. */
async function touch(path: string): Promise<boolean> {
  const now = new Date()
  return utimes(path, now, now).then(
    () => true,
    () => false,
  )
}
