import { execFileSync } from 'node:child_process'
import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../ports/system.ts'
import { checkAuthority } from './certificate-authority.ts'
import { resolveClusterAccess } from './cluster-access.ts'
import { createCredentials } from './credentials.ts'
import { readNamedFile } from './read-named-file.ts'
import { makeTemporaryFolder, type TemporaryFolder } from './testing/temporary-folder.ts'

let folder: TemporaryFolder
beforeEach(() => {
  folder = makeTemporaryFolder()
})
afterEach(() => folder.remove())

function pipe(): string {
  const path = join(folder.path, 'pipe')
  execFileSync('mkfifo', [path])
  return path
}

/** A pipe with `text` in it, under the name that a shell gives to `<(COMMAND)`; `end` is the end of the command. */
function printed(text: string): { name: string; end(): void } {
  const path = pipe()
  // Opening a pipe for reading and writing never blocks.
  const writer = openSync(path, 'r+')
  const reader = openSync(path, 'r')
  rmSync(path)
  writeSync(writer, text)
  onTestFinished(() => closeSync(reader))
  return { name: `/dev/fd/${reader}`, end: () => closeSync(writer) }
}

test('a file, and what a command prints', () => {
  expect(readNamedFile(folder.write('file', 'x'.repeat(100_000))).length).toBe(100_000)
  const { name, end } = printed('a: 1\n')
  end()
  expect(String(readNamedFile(name))).toBe('a: 1\n')
  expect(String(readNamedFile('/dev/null'))).toBe('')
})

test('what never ends is given up', () => {
  const { name, end } = printed('a: 1\n')
  expect(() => readNamedFile(name, { pipeDeadlineMs: 40 })).toThrow(`"${name}" has not come to its end within 0.04s`)
  end()
})

test('of what is too long no more is read than it may have', () => {
  const zero = openSync('/dev/zero', 'r')
  onTestFinished(() => closeSync(zero))
  expect(() => readNamedFile(`/proc/self/fd/${zero}`)).toThrow('is longer than the 8388608 bytes that it may have')
})

const WHY = /pipe" is no regular file but a pipe, a socket or a device/

function accessWith(cluster: object, user: object) {
  const kubeconfig = folder.write('config', {
    clusters: [{ name: 'c', cluster: { server: 'https://api:6443', ...cluster } }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'c',
  })
  return resolveClusterAccess({ kubeconfig })
}

// Opening a named pipe blocks until a writer comes, and the process handles no signal meanwhile.
test('a pipe is refused in place of a kubeconfig, and of each file that one names', async () => {
  const path = pipe()
  expect(() => resolveClusterAccess({ kubeconfig: path })).toThrow(WHY)
  const byAuthority = accessWith({ 'certificate-authority': path }, { token: 't' })
  expect(() => checkAuthority(byAuthority)).toThrow(WHY)
  const users = [{ tokenFile: path }, { 'client-certificate': path }, { 'client-certificate-data': 'YQ==', 'client-key': path }]
  for (const access of [byAuthority, ...users.map((user) => accessWith({}, user))]) {
    const credentials = createCredentials({ access, clock: systemClock })
    await expect(credentials.current()).rejects.toThrow(WHY)
    credentials.close()
  }
})
