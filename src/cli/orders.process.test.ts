import { STATEFUL_SET } from '../workloads/kinds/stateful-set.ts'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { ORDER_ANNOTATION, writeOrder, type Order } from '../engine/orders/order.ts'
import { LEDGER_LABEL, ledgerChunks, type LedgerHeader, type MixedWorkload } from '../journal/ledger.ts'
import type { Reason } from '../reasons/reason.ts'
import { startApiServer, type ApiServer } from '../kube/testing/api-server.ts'
import { startChild } from './testing/child.ts'
import { kubeconfigOf } from './testing/kubeconfig.ts'

const ENTRY = join(import.meta.dirname, 'sluice.ts')
const STANDS =
  'An order that was given stands, as sluice status shows. To go on from here:\n  sluice abort sts/web --kubeconfig kubeconfig\n'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-orders-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

interface ClusterOptions {
  holder?: string
  /** The run has a Lease. */
  leased?: boolean
  order?: Order
  /** After the order, the API refuses to read the Lease. */
  losesLease?: boolean
  /** Another open run, which began later. */
  alsoOpen?: string
  /** The run that the first run takes back. */
  undoes?: string
  /** After the order, the run is aborted, with these templates left as they are. */
  leaves?: Reason[]
  /** The workloads that the abort leaves on different images. */
  mixes?: MixedWorkload[]
  /** After the order, the run finishes by itself. */
  ends?: true
  /** The record of the run: missing, or unreadable. */
  record?: 'none' | 'unreadable'
}

/** Starts a cluster with one open run. */
async function startCluster({
  holder = '',
  leased = true,
  order,
  losesLease,
  alsoOpen,
  undoes,
  leaves,
  mixes,
  ends,
  record,
}: ClusterOptions = {}): Promise<ApiServer> {
  const server = await startApiServer()
  onTestFinished(() => server.close())
  const workloads = [{ ...STATEFUL_SET, name: 'web', uid: 'w' }]
  const header = { run: 'r1', workloads, images: [], startedAt: '2026-01-01T00:00:00.000Z', chunks: 1 }
  const ledger = (end: Partial<LedgerHeader>): object => {
    const [data] = ledgerChunks({ header: { ...header, ...end }, entries: new Map() })
    const run = end.run ?? 'r1'
    const labels = { [LEDGER_LABEL]: run }
    return {
      metadata: { name: `sluice-run-${run}`, resourceVersion: '7', labels },
      data: record === 'unreadable' ? { header: '{' } : data,
    }
  }
  const metadata = { name: 'sluice-statefulset-web', namespace: 'default', uid: 'l', resourceVersion: '7' }
  const annotations = order === undefined ? {} : { [ORDER_ANNOTATION]: writeOrder(order) }
  const status = (code: number): object => {
    const reason = code === 404 ? 'NotFound' : 'Forbidden'
    return { kind: 'Status', status: 'Failure', message: 'no', reason, code }
  }
  server.handle(({ method, url }, response) => {
    const isOrdered = server.seen.some((one) => one.method === 'PATCH')
    const isLease = url.includes('/leases/')
    const code = !isLease ? 200 : !leased ? 404 : losesLease && isOrdered && method === 'GET' ? 403 : 200
    const lease = { metadata: { ...metadata, annotations }, spec: { holderIdentity: holder, leaseDurationSeconds: 15 } }
    const finishedAt = '2026-01-02T00:00:00.000Z'
    const aborted = leaves ? { aborted: { by: 'ann', left: leaves, ...(mixes && { mixed: mixes }) } } : {}
    const end = isOrdered && (leaves || ends) ? { finishedAt, ...aborted } : {}
    const ledgers = [
      ledger({ ...end, ...(undoes === undefined ? {} : { undoes }) }),
      ...(alsoOpen ? [ledger({ run: alsoOpen, startedAt: '2026-01-02T00:00:00.000Z' })] : []),
    ]
    const items = url.includes('/statefulsets') ? [{ metadata: { name: 'web', uid: 'w' }, spec: {} }] : []
    const found = url.includes('/configmaps') && record !== 'none' ? ledgers : items
    const list = { metadata: { resourceVersion: '9' }, items: found }
    response.statusCode = code
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(code === 200 ? (isLease ? lease : list) : status(code)))
  })
  writeFileSync(join(folder, 'kubeconfig'), kubeconfigOf(server.url))
  return server
}

async function give(order: string, { flags = [] as string[], env = {} } = {}) {
  const args = [ENTRY, order, 'sts/web', '--kubeconfig', 'kubeconfig', ...flags]
  const child = startChild(args, { cwd: folder, env: { HOME: folder, ...env } })
  onTestFinished(() => void child.process.kill('SIGKILL'))
  return { code: await child.end(), stdout: child.stdout(), stderr: child.stderr() }
}

test('a log level that is none is refused before an abort is ordered', async () => {
  const server = await startCluster()
  const { code, stderr } = await give('abort', { env: { SLUICE_LOG: 'loud' } })
  expect(stderr).toContain('error: SLUICE_LOG: "loud" is none of')
  expect(code).toBe(2)
  expect(server.seen.filter(({ method }) => method === 'PATCH')).toEqual([])
})

test('a cluster that cannot be watched any more once an abort is ordered: exit 4, and the order stands', async () => {
  const server = await startCluster({ holder: 'somebody', losesLease: true })
  const { code, stderr } = await give('abort')
  expect(server.seen.filter(({ method }) => method === 'PATCH')).toHaveLength(1)
  expect(stderr).toContain(STANDS)
  expect(code).toBe(4)
})

// Exit code 2 would promise that nothing was touched.
test('a config that is missed once an abort is ordered: exit 4, and the order stands', async () => {
  await startCluster()
  const { code, stderr } = await give('abort')
  expect(stderr).toBe(
    `sluice.yaml: there is no such file\n    name the config with --config FILE or SLUICE_CONFIG; without either it is ./sluice.yaml\n${STANDS}`,
  )
  expect(code).toBe(4)
})

test('a mistake of sluice itself while an abort waits: the order stands', async () => {
  await startCluster({ holder: 'somebody' })
  const preload = `data:text/javascript,process.on('SIGUSR2',()=>{throw(new(TypeError)('x'))})`
  const args = ['--import', preload, ENTRY, 'abort', 'sts/web', '--kubeconfig', 'kubeconfig']
  const child = startChild(args, { cwd: folder, env: { HOME: folder } })
  onTestFinished(() => void child.process.kill('SIGKILL'))
  await child.sees('the abort is ordered; waits for somebody')
  child.process.kill('SIGUSR2')
  expect(await child.end()).toBe(1)
  expect(child.stderr()).toContain(`with the output of the same command under SLUICE_LOG=debug.\n${STANDS}`)
})

test('an abort whose run has left a template as it is: exit 7, the run is over, and how pods follow the template', async () => {
  const leaves: Reason[] = [{ code: 'template-edited', workload: 'statefulset/web', container: 'app', image: 'app:v3' }]
  await startCluster({ leaves })
  const command = 'sluice upgrade statefulset/web --kubeconfig kubeconfig'
  const { code, stdout, stderr } = await give('abort')
  expect(stdout).toBe(
    `run r1 of statefulset/web is aborted, but the template of statefulset/web was left as it is: container app has app:v3 there, which the run has not set\n\nThe run is over. Where the pods are to follow the template as it is now, and differ from it in images alone:\n  ${command}\n`,
  )
  expect([code, stderr]).toEqual([7, ''])
  await startCluster({ leaves })
  const told = await give('abort', { flags: ['-o', 'json'] })
  expect(JSON.parse(told.stdout)).toMatchObject({
    workloads: ['statefulset/web'],
    outcome: 'left',
    next: [{ to: 'followTemplate', shell: command }],
  })
})

test('an abort whose run has put the template back, with pods on other images: which, and how they get to the template', async () => {
  const mixed = [{ workload: 'statefulset/web', upgraded: 1, pods: 3 }]
  const shell = 'sluice upgrade statefulset/web --kubeconfig kubeconfig'
  await startCluster({ leaves: [], mixes: mixed })
  const { code, stdout } = await give('abort')
  expect(stdout).toContain(`statefulset/web: 1 of 3 pods run other images than the template, which has its former images again.`)
  expect(stdout).toMatch(new RegExp(`:\n  ${shell}\n$`))
  expect(code).toBe(0)
  await startCluster({ leaves: [], mixes: mixed })
  const told = await give('abort', { flags: ['-o', 'json'] })
  expect(JSON.parse(told.stdout)).toMatchObject({
    outcome: 'aborted',
    mixed,
    next: [{ to: 'backToTemplate', workload: 'statefulset/web', shell }],
  })
  // Control: all pods run the images of the template.
  await startCluster({ leaves: [] })
  const same = JSON.parse((await give('abort', { flags: ['-o', 'json'] })).stdout) as object
  expect(same).toMatchObject({ outcome: 'aborted', next: [] })
  expect(same).not.toHaveProperty('mixed')
})

interface ToldAs extends ClusterOptions {
  flags?: string[]
  outcome: string
  reason: Partial<Reason>
  code: number
  orders: number
}

const WEB = { asked: 'statefulset/web' }
const UNREADABLE = { code: 'record-of-run-unreadable', run: 'r1' } as const

test.each<ToldAs>([
  { flags: ['--no-wait'], outcome: 'ordered', reason: { code: 'abort-given', ...WEB, runs: ['r1'] }, code: 0, orders: 1 },
  { ends: true, outcome: 'finished', reason: { code: 'ended-before-abort', ...WEB, runs: ['r1'] }, code: 0, orders: 1 },
  { record: 'none', outcome: 'none', reason: { code: 'nothing-to-order', order: 'abort', ...WEB }, code: 0, orders: 0 },
  {
    record: 'unreadable',
    outcome: 'left',
    reason: { code: 'left-without-record', ...WEB, found: [UNREADABLE] },
    code: 8,
    orders: 0,
  },
])('what came of an abort, as JSON: $reason.code', async ({ flags = [], outcome, reason, code, orders, ...options }) => {
  const server = await startCluster(options)
  const told = await give('abort', { flags: ['-o', 'json', ...flags] })
  expect(told.stderr).toBe('')
  expect(JSON.parse(told.stdout)).toMatchObject({ kind: 'OrderReport', order: 'abort', outcome, reason })
  expect([told.code, server.seen.filter(({ method }) => method === 'PATCH').length]).toEqual([code, orders])
})

test.each(['pause', 'resume'])('%s, where no run is open: refused, and no order is given', async (order) => {
  const server = await startCluster({ record: 'none' })
  const { code, stdout, stderr } = await give(order)
  expect(stderr).toContain('error: no run of statefulset/web is open')
  expect([code, stdout, server.seen.filter(({ method }) => method === 'PATCH')]).toEqual([3, '', []])
  const told = await give(order, { flags: ['-o', 'json'] })
  expect(JSON.parse(told.stdout)).toEqual({
    apiVersion: 'sluice.dev/v1',
    kind: 'OrderReport',
    order,
    namespace: 'default',
    workloads: ['statefulset/web'],
    runs: [],
    outcome: 'none',
    reason: { code: 'nothing-to-order', order, ...WEB, message: `no run of statefulset/web is open: nothing to ${order}` },
    next: [],
  })
  expect([told.code, told.stderr]).toEqual([3, stderr])
})

test.each([
  ['pause', []],
  ['abort', ['--no-wait']],
])('%s, where somebody has deleted the Lease: no order is given, and none is said to be', async (order, flags) => {
  await startCluster({ leased: false })
  const { code, stdout, stderr } = await give(order, { flags })
  expect(stdout).toBe('')
  expect(stderr).toContain('error: run r1 of statefulset/web: the Lease that the order would stand on is gone')
  expect(code).toBe(3)
})

test('pause of what is being aborted: a conflict', async () => {
  const server = await startCluster({ order: { order: 'abort', runs: ['r1'], by: 'ann' } })
  const { code, stdout, stderr } = await give('pause')
  expect([code, stdout]).toEqual([7, ''])
  expect(stderr).toContain('error: run r1 is being aborted (by ann), which is never taken back')
  expect(server.seen.filter(({ method }) => method === 'PATCH')).toEqual([])
})

test('pause, of a run beside one that is being aborted: says which is not paused', async () => {
  const order: Order = { order: 'abort', runs: ['r1'], by: 'ann' }
  await startCluster({ holder: 'ci-7_1234_abc', order, alsoOpen: 'r2' })
  const { code, stdout } = await give('pause')
  expect(stdout).toMatch(/^run r2 of statefulset\/web: it starts no new pod .*; run r1 is being aborted, as before\n$/)
  expect(code).toBe(0)
})

test('resume, where the process that holds the Lease may be dead: says how it goes on then', async () => {
  await startCluster({ holder: 'ci-7_1234_abc', order: { order: 'pause', runs: ['r1'], by: 'ann' } })
  const { code, stdout } = await give('resume')
  expect(code).toBe(0)
  expect(stdout).toContain('; where its process is dead, the same upgrade command goes on\n')
})

// An upgrade command does not continue an undo.
test.each([
  ['an undo', {}, 'the same undo command'],
  ['an undo and an upgrade', { alsoOpen: 'r2' }, 'the same command'],
])('resume, of %s: says which command goes on', async (_, options, command) => {
  await startCluster({ undoes: 'r0', order: { order: 'pause', runs: ['r1', 'r2'], by: 'ann' }, ...options })
  const { code, stdout } = await give('resume')
  expect(code).toBe(0)
  expect(stdout).toMatch(new RegExp(`no process is at work on (it|them): ${command} goes on\n`))
})

test('resume, as JSON: the workloads are a list', async () => {
  await startCluster({ order: { order: 'pause', runs: ['r1'], by: 'ann' } })
  const { stdout } = await give('resume', { flags: ['-o', 'json'] })
  expect(JSON.parse(stdout)).toMatchObject({ kind: 'OrderReport', workloads: ['statefulset/web'], runs: ['r1'] })
})

test('with -v each request is logged, and what came of it; without it none', async () => {
  await startCluster({ leased: false })
  const { code, stderr } = await give('pause', { flags: ['-v'] })
  const log = stderr.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as object] : []))
  const lease = { level: 20, method: 'get', path: expect.stringContaining('/leases/sluice-statefulset-web') }
  expect(log).toContainEqual(expect.objectContaining({ ...lease, msg: 'Request failed', error: expect.any(String) }))
  const ledgers = { level: 20, method: 'get', path: expect.stringContaining('/configmaps?'), ms: expect.any(Number) }
  expect(log).toContainEqual(expect.objectContaining({ ...ledgers, msg: 'Request answered' }))
  expect(code).toBe(3)
  expect((await give('pause')).stderr).toMatch(/^error: /)
})
