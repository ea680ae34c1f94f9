import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { LEDGER_LABEL, ledgerChunks } from '../journal/ledger.ts'
import { startApiServer, type ApiServer } from '../kube/testing/api-server.ts'
import { startChild } from './testing/child.ts'

const ENTRY = join(import.meta.dirname, 'sluice.ts')
const STANDS =
  'An order that was given stands, as sluice status shows. To go on from here:\n  sluice abort sts/web --kubeconfig kubeconfig\n'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-abort-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

/** A cluster with one open run; `lost` once the order was given, where it answers that the Lease may not be read. */
async function startCluster({ holder = '', losesLease = false } = {}): Promise<ApiServer> {
  const server = await startApiServer()
  onTestFinished(() => server.close())
  const workloads = [{ kind: 'StatefulSet', name: 'web', uid: 'w' }]
  const header = { run: 'r1', workloads, images: [], startedAt: '2026-01-01T00:00:00.000Z', chunks: 1 }
  const [data] = ledgerChunks({ header, entries: new Map() })
  const ledger = { metadata: { name: 'sluice-run-r1', labels: { [LEDGER_LABEL]: 'r1' } }, data }
  const metadata = { name: 'sluice-statefulset-web', namespace: 'default', uid: 'l', resourceVersion: '7' }
  server.handle(({ method, url }, response) => {
    const isOrdered = server.seen.some((one) => one.method === 'PATCH')
    const isLost = losesLease && isOrdered && method === 'GET' && url.includes('/leases/')
    const lease = { metadata, spec: { holderIdentity: holder, leaseDurationSeconds: 15 } }
    response.statusCode = isLost ? 403 : 200
    response.setHeader('content-type', 'application/json')
    const forbidden = { kind: 'Status', status: 'Failure', reason: 'Forbidden', message: 'no', code: 403 }
    const list = { metadata: { resourceVersion: '9' }, items: url.includes('/configmaps') ? [ledger] : [] }
    response.end(JSON.stringify(isLost ? forbidden : url.includes('/leases/') ? lease : list))
  })
  const kubeconfig = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    clusters: [{ name: 'c', cluster: { server: server.url } }],
    users: [{ name: 'u', user: { token: 't' } }],
  }
  writeFileSync(join(folder, 'kubeconfig'), JSON.stringify(kubeconfig))
  return server
}

async function abort(env: Record<string, string> = {}) {
  const args = [ENTRY, 'abort', 'sts/web', '--kubeconfig', 'kubeconfig']
  const child = startChild(args, { cwd: folder, env: { HOME: folder, ...env } })
  onTestFinished(() => void child.process.kill('SIGKILL'))
  return { code: await child.end(), stderr: child.stderr() }
}

test('a log level that is none is refused before an order is given', async () => {
  const server = await startCluster()
  const { code, stderr } = await abort({ SLUICE_LOG: 'loud' })
  expect(stderr).toContain('error: SLUICE_LOG: "loud" is none of')
  expect(code).toBe(2)
  expect(server.seen.filter(({ method }) => method === 'PATCH')).toEqual([])
})

test('a cluster that cannot be watched any more once the order is given: exit 4, and the order stands', async () => {
  const server = await startCluster({ holder: 'somebody', losesLease: true })
  const { code, stderr } = await abort()
  expect(server.seen.filter(({ method }) => method === 'PATCH')).toHaveLength(1)
  expect(stderr).toContain(STANDS)
  expect(code).toBe(4)
})

test('a config that is missed once the order is given: the order stands', async () => {
  await startCluster()
  const { code, stderr } = await abort()
  expect(stderr).toBe(
    `sluice.yaml: there is no such file\n    name the config with --config FILE or SLUICE_CONFIG; without either it is ./sluice.yaml\n${STANDS}`,
  )
  expect(code).toBe(2)
})
