import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Image } from './docker-archive.ts'
import type { TarEntry } from './tar.ts'

/** A user without a name elsewhere, by the number that images without root have by custom. */
const USER = 65_532
const NODE = 'usr/local/bin/node'
const PROGRAM = 'sluice/cli'
/** A name in PATH, for `kubectl exec`. A file without an extension is CommonJS. */
const COMMAND = {
  name: 'usr/local/bin/sluice',
  content: Buffer.from(`#!/${NODE}\nimport('/${PROGRAM}/sluice.js')\n`),
  mode: 0o755,
}
const PRESETS = join(import.meta.dirname, '../../adapters/presets')

/**
 * Returns the image of sluice: Node, the shared libraries of Node from this machine, and the bundled command line in `cli`. The image has
 * no shell and no package.
 */
export function sluiceImage(cli: string, tags: readonly string[]): Image {
  return {
    tags,
    // Node changes less often than sluice, so it is a layer of its own.
    layers: [[{ name: NODE, content: readFileSync(process.execPath), mode: 0o755 }, ...libraries(), ...accounts()], program(cli)],
    entrypoint: [`/${NODE}`, `/${PROGRAM}/sluice.js`],
    user: `${USER}:${USER}`,
  }
}

/** The libraries and the loader that Node names, each at the path where the loader looks for it. */
function libraries(): TarEntry[] {
  const listed = execFileSync('ldd', [process.execPath], { encoding: 'utf8' })
  const paths = listed.split('\n').flatMap((line) => /(?:=> |^\s*)(\/\S+) \(0x/.exec(line)?.[1] ?? [])
  return paths.map((path) => ({ name: path.slice(1), content: readFileSync(path), mode: 0o755 }))
}

/** Names in /etc/hosts come first, as on other systems. */
function accounts(): TarEntry[] {
  const text = {
    'etc/nsswitch.conf': 'hosts: files dns\n',
    'etc/passwd': `root:x:0:0:root:/:/sbin/nologin\nsluice:x:${USER}:${USER}:sluice:/:/sbin/nologin\n`,
    'etc/group': `root:x:0:\nsluice:x:${USER}:\n`,
  }
  return Object.entries(text).map(([name, content]) => ({ name, content: Buffer.from(content), mode: 0o644 }))
}

function program(cli: string): TarEntry[] {
  const module = { name: 'sluice/package.json', content: Buffer.from('{"type":"module"}\n'), mode: 0o644 }
  return [COMMAND, module, ...filesOf(cli, PROGRAM), ...filesOf(PRESETS, 'sluice/adapters/presets', '.yaml')]
}

function filesOf(folder: string, target: string, end = ''): TarEntry[] {
  const names = readdirSync(folder).filter((name) => name.endsWith(end))
  return names.sort().map((name) => ({ name: `${target}/${name}`, content: readFileSync(join(folder, name)), mode: 0o644 }))
}
