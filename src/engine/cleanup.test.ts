import { describe, expect, test } from 'vitest'
import { LEDGER_LABEL, writeHeader } from '../journal/ledger.ts'
import { createVirtualClock } from '../kube/testing/virtual-clock.ts'
import { createFakeApi } from '../workloads/testing/fake-api.ts'
import { NAMESPACE } from '../workloads/testing/manifests.ts'
import { cleanUp } from './cleanup.ts'

const CONFIG_MAPS = `/api/v1/namespaces/${NAMESPACE}/configmaps`
const LEASE = `/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases/sluice-statefulset-web`
const PART = 'sluice-run-r1-1'

/** Where the second part of a ledger is there, and not its first; `meanwhile` comes to pass between the look and the removal. */
async function cleaned({ holder = '', meanwhile = () => {} }: { holder?: string; meanwhile?: (writeFirst: () => void) => void }) {
  const api = createFakeApi()
  const put = (name: string, data: Record<string, string>): void =>
    void api.put(`${CONFIG_MAPS}/${name}`, { metadata: { name, labels: { [LEDGER_LABEL]: 'r1' } }, data })
  put(PART, {})
  api.put(LEASE, { metadata: { name: 'sluice-statefulset-web', namespace: NAMESPACE }, spec: { holderIdentity: holder } })
  const header = writeHeader({ run: 'r1', workloads: [], images: [], startedAt: '2026-01-01', chunks: 2 })
  api.faults.after = (_method, path) => {
    if (path.endsWith('/leases')) meanwhile(() => put('sluice-run-r1', { header }))
  }
  const client = { ...api.client, delete: async (path: string) => api.remove(path) }
  const report = await cleanUp({ namespace: NAMESPACE, refs: [], dryRun: false }, { client, clock: createVirtualClock() })
  return {
    removed: report.removed.map(({ name }) => name),
    kept: report.kept.map(({ name }) => name),
    parts: api.list(CONFIG_MAPS).length,
  }
}

describe('a part of a ledger whose header is not there', () => {
  test('goes where nobody runs', async () => {
    expect(await cleaned({})).toEqual({ removed: [PART], kept: [], parts: 0 })
  })

  test('stays where somebody does, who may be about to write it', async () => {
    expect(await cleaned({ holder: 'somebody' })).toEqual({ removed: [], kept: [PART], parts: 1 })
  })

  test('stays where the run that was writing it has come to its end while it was looked for', async () => {
    expect(await cleaned({ meanwhile: (writeFirst) => writeFirst() })).toEqual({ removed: [], kept: [], parts: 2 })
  })
})
