import { afterEach, expect, test } from 'vitest'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock, systemRandom } from '../../src/ports/system.ts'
import { createApiServer } from '../api-server/api-server.ts'
import { writeKubeconfig } from './kubeconfig.ts'
import { serveApi } from './serve-api.ts'

const PODS = '/api/v1/namespaces/default/pods'
const AS_TABLE = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' }
const ends: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

async function start() {
  const apiServer = createApiServer({ clock: systemClock, random: systemRandom })
  const served = await serveApi({ apiServer, clock: systemClock })
  ends.push(served.close)
  const create = (name: string): void => {
    const spec = { containers: [{ name: 'app', image: 'app:v1' }] }
    apiServer.store.create('pods', { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'default' }, spec }, 'test')
  }
  return { apiServer, create, url: served.url }
}

/** Reads the lines of a watch as they arrive. */
async function watch(address: string, headers: Record<string, string> = {}) {
  const response = await fetch(address, { headers })
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  async function next(): Promise<unknown> {
    while (!rest.includes('\n')) {
      const { value, done } = await reader.read()
      if (done) return undefined
      rest += value
    }
    const line = rest.slice(0, rest.indexOf('\n'))
    rest = rest.slice(line.length + 1)
    return JSON.parse(line)
  }
  return { response, next, cancel: () => reader.cancel() }
}

test('a watch tells each change as it comes, until its time is over', async () => {
  const { create, url } = await start()
  const { response, next } = await watch(`${url}${PODS}?watch=true&timeoutSeconds=1`)
  expect(response.headers.get('content-type')).toBe('application/json')
  create('web-0')
  expect(await next()).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'web-0' } } })
  create('web-1')
  expect(await next()).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'web-1' } } })
  expect(await next()).toBeUndefined()
})

test('tables have the columns that kubectl shows, in lists and in watches', async () => {
  const { create, url } = await start()
  create('web-0')
  const table = (await (await fetch(`${url}${PODS}`, { headers: AS_TABLE })).json()) as Record<string, never>
  expect(table).toMatchObject({ kind: 'Table', metadata: { resourceVersion: expect.any(String) } })
  const { next, cancel } = await watch(`${url}${PODS}?watch=1`, AS_TABLE)
  const added = {
    type: 'ADDED',
    object: { kind: 'Table', rows: [{ cells: ['web-0', '0/1', 'Pending', '0', expect.any(String), '<none>', '<none>'] }] },
  }
  expect(await next()).toMatchObject(added)
  expect(table['rows']).toMatchObject(added.object.rows)
  await cancel()
})

test('without the secret path there is nothing but the answer that it is there', async () => {
  const { url } = await start()
  const { origin } = new URL(url)
  const refused = await fetch(`${origin}${PODS}`)
  expect([refused.status, await refused.json()]).toMatchObject([403, { kind: 'Status', reason: 'Forbidden' }])
  expect((await fetch(`${origin}/${'0'.repeat(32)}${PODS}`)).status).toBe(403)
  expect(await (await fetch(`${origin}/readyz`)).text()).toBe('ok')
  // The request with the secret path succeeds.
  expect((await fetch(`${url}${PODS}`)).status).toBe(200)
})

test('a body that is too large, and a method that there is not, are refused', async () => {
  const { url } = await start()
  const large = await fetch(`${url}${PODS}`, { method: 'POST', body: 'x'.repeat(5_000_000) })
  expect(large.status).toBe(413)
  expect((await fetch(`${url}${PODS}`, { method: 'OPTIONS' })).status).toBe(405)
})

test('a kubeconfig is readable by its owner alone, also where another file was', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-kubeconfig-'))
  ends.push(() => rm(folder, { recursive: true }))
  const file = join(folder, 'config')
  await writeFile(file, 'another', { mode: 0o644 })
  await writeKubeconfig(file, 'http://127.0.0.1:1/secret')
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect(await readFile(file, 'utf8')).toContain('http://127.0.0.1:1/secret')
})
