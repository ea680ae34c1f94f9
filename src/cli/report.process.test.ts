import { STATEFUL_SET } from '../workloads/kinds/stateful-set.ts'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { LEDGER_LABEL, ledgerChunks, type LedgerEntry } from '../journal/ledger.ts'
import { startApiServer } from '../kube/testing/api-server.ts'
import { startChild } from './testing/child.ts'
import { kubeconfigOf } from './testing/kubeconfig.ts'

const ENTRY = join(import.meta.dirname, 'sluice.ts')

/** Reports a cluster with a release, and a later run that had nothing to do. */
async function report(argument: string) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-reports-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const server = await startApiServer()
  onTestFinished(() => server.close())
  const ledger = (run: string, startedAt: string, entries: LedgerEntry[]): object => {
    const workloads = [{ ...STATEFUL_SET, name: 'web', uid: 'w' }]
    const header = { run, workloads, images: [], startedAt, chunks: 1, finishedAt: startedAt }
    const [data] = ledgerChunks({ header, entries: new Map(entries.map((entry) => [entry.uid, entry])) })
    return { metadata: { name: `sluice-run-${run}`, resourceVersion: '7', labels: { [LEDGER_LABEL]: run } }, data }
  }
  const items = [
    ledger('r1', '2026-01-01T00:00:00.000Z', [{ uid: 'u', pod: 'web-0', targets: [], state: 'closed' }]),
    ledger('r2', '2026-01-02T00:00:00.000Z', []),
  ]
  server.handle((_request, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ metadata: { resourceVersion: '9' }, items }))
  })
  writeFileSync(join(folder, 'kubeconfig'), kubeconfigOf(server.url))
  const child = startChild([ENTRY, 'report', argument, '--kubeconfig', 'kubeconfig'], { cwd: folder, env: { HOME: folder } })
  onTestFinished(() => void child.process.kill('SIGKILL'))
  return { code: await child.end(), stdout: child.stdout(), stderr: child.stderr() }
}

test('the report of a workload is that of the newest run that had something to do, and says which it has passed over', async () => {
  const { code, stdout, stderr } = await report('sts/web')
  expect(stdout).toMatch(/^run r1 of statefulset\/web .*[^]*\nweb-0 /)
  expect([code, stderr]).toEqual([0, 'passed over, since it had nothing to do: run r2\n'])
})

test('one that is named is reported, whatever it had to do', async () => {
  const { code, stdout, stderr } = await report('r2')
  expect(stdout).toMatch(/^run r2 of /)
  expect([code, stderr]).toEqual([0, ''])
})
