import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Call } from '../contract.ts'
import { createClient } from '../http-client/client.ts'
import { readSecret } from './secret.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-credential-'))
  execFileSync('mkfifo', [join(folder, 'pipe')])
  writeFileSync(join(folder, 'large'), Buffer.alloc((1 << 20) + 1, 'x'))
  writeFileSync(join(folder, 'token'), 's3cr3t\n')
  symlinkSync('token', join(folder, 'link'))
})
afterAll(() => rmSync(folder, { recursive: true }))

test('a secret from a file, and from a link to one as Kubernetes mounts it', () => {
  for (const name of ['token', 'link']) expect(readSecret({ file: join(folder, name) })).toBe('s3cr3t')
})

test.each([
  ['pipe', 'it is no regular file'],
  ['/dev/zero', 'it is no regular file'],
  ['.', 'it is no regular file'],
  ['large', 'it is longer than 1048576 bytes'],
  ['none', 'ENOENT'],
])('%s is refused at once, by name', async (name, why) => {
  const file = name.startsWith('/') ? name : join(folder, name)
  expect(() => readSecret({ file })).toThrow(`the file ${file} cannot be read: ${why}`)

  const url = 'https://127.0.0.1:1'
  const client = createClient('http edge', { url, tls: { ca: file } })
  const request = { method: 'GET', path: '/', headers: {}, body: undefined, expect: undefined, secrets: [] }
  const call: Call = { deadlineMs: 20_000, assertLive: () => {} }
  await expect(client.send(request, call, { isWrite: false })).rejects.toMatchObject({
    kind: 'fatal',
    message: `http edge: the file ${file} of tls cannot be read: ${why}`,
  })
})
