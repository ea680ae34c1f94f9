import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startChild } from './testing/child.ts'

const ENTRY = join(import.meta.dirname, 'sluice.ts')
/** An unexpected error, which sluice takes for a bug of its own. */
const BUG = `import os from 'node:os'
import { syncBuiltinESMExports } from 'node:module'
os.hostname = () => { throw new TypeError('this machine has no name') }
syncBuiltinESMExports()`

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-verbose-'))
  const kubeconfig = {
    apiVersion: 'v1',
    kind: 'Config',
    contexts: [{ name: '-v', context: { cluster: 'c', user: 'u' } }],
    clusters: [{ name: 'c', cluster: { server: 'http://127.0.0.1:1' } }],
    users: [{ name: 'u', user: { token: 't' } }],
  }
  writeFileSync(join(folder, 'kubeconfig'), JSON.stringify(kubeconfig))
})
afterAll(() => rmSync(folder, { recursive: true }))

test.each([
  ['-vn', ['-vn', 'shop', '--context=-v'], {}, true],
  ['--verbose', ['--context=-v', '--verbose'], {}, true],
  ['a context of the name -v', ['--context', '-v'], {}, false],
  ['SLUICE_LOG=debug', [], { SLUICE_LOG: 'debug' }, true],
  ['SLUICE_LOG=info', [], { SLUICE_LOG: 'info' }, false],
])(
  'the stack of a bug is shown for -v and at debug, and for nothing that looks alike: %s',
  async (_name, flags, level, isShown) => {
    const args = [ENTRY, 'resolve', 'web-0', '--traffic', 'in', ...flags]
    const env = {
      ...level,
      HOME: folder,
      KUBECONFIG: join(folder, 'kubeconfig'),
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(BUG)}`,
    }
    const child = startChild(args, { cwd: folder, env })
    expect(await child.end()).toBe(1)
    expect(child.stderr()).toContain('error: TypeError: this machine has no name\nThis is a bug in sluice.')
    expect(child.stderr().includes('\n    at ')).toBe(isShown)
  },
)
