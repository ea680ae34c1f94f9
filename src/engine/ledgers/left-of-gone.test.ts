import { KINDS } from '../../workloads/kinds/index.ts'
import { POD } from '../../workloads/kinds/pod.ts'
import { STATEFUL_SET } from '../../workloads/kinds/stateful-set.ts'
import { expect, test } from 'vitest'
import type { LedgerEntry, LedgerHeader } from '../../journal/ledger.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { TrafficReading } from '../../pods/glossary.ts'
import { createFakeApi } from '../../workloads/testing/fake-api.ts'
import { entryOf } from '../testing/ledgers.ts'
import { said } from '../testing/said.ts'
import { createLedger } from './ledger-store.ts'
import { leftOfGone } from './left-of-gone.ts'

const WEB = { ...STATEFUL_SET, name: 'web', uid: 'web' }
const OWNER = { apiVersion: 'apps/v1', ...WEB, controller: true }
const OUT: TrafficReading = { state: 'out', inFlight: 0, detail: said('draining') }

interface Run extends Partial<LedgerHeader> {
  entries: LedgerEntry[]
}

/** The refusals with these runs on record and these pods present. */
async function told(runs: Run[], { alive = [] as string[], reading = OUT } = {}) {
  const api = createFakeApi()
  const create = async (path: string, body: unknown): Promise<unknown> =>
    api.put(`${path}/${(body as { metadata: { name: string } }).metadata.name}`, body)
  const client: KubeClient = { ...api.client, create }
  for (const { entries, ...change } of runs) {
    const header = { run: 'r1', workloads: [WEB], images: [], startedAt: '2026-01-01T00:00:00Z', chunks: 1, ...change }
    await createLedger({ header, entries: new Map(entries.map((entry) => [entry.uid, entry])) }, { client, namespace: 'shop' })
  }
  for (const name of alive) api.put(`/api/v1/namespaces/shop/pods/${name}`, podNamed(name))
  const asked: string[] = []
  const inspect = async (uid: string) => {
    asked.push(uid)
    return reading
  }
  const refusals = await leftOfGone(client, 'shop', { kinds: KINDS, traffic: { inspect } as never })
  return { refusals, asked }
}

const podNamed = (name: string) => ({
  metadata: { name, namespace: 'shop', uid: `uid of ${name}` },
  spec: { containers: [{ name: 'app', image: 'app:v1' }] },
  status: {},
})

const ofWeb = (pod: string, change: Partial<LedgerEntry> = {}): LedgerEntry => entryOf(pod, { owner: OWNER, ...change })

test('of a pod that is gone its run, and the workload to name; of one that is there nothing, and no load balancer is asked', async () => {
  const { refusals, asked } = await told([{ entries: [ofWeb('web-0'), ofWeb('web-1')] }], { alive: ['web-0'] })
  expect(refusals).toEqual([
    {
      code: 'left-open',
      run: 'r1',
      pod: 'web-1',
      standing: 'pod-gone',
      traffic: OUT.detail,
      workloads: ['statefulset/web'],
    },
  ])
  expect(asked).toEqual(['uid of web-1'])
})

test('of several runs that have it open, the newest alone', async () => {
  const entries = [ofWeb('web-1')]
  const { refusals } = await told([{ entries }, { entries, run: 'r2', startedAt: '2026-01-02T00:00:00Z' }])
  expect(refusals).toMatchObject([{ code: 'left-open', run: 'r2', pod: 'web-1' }])
})

test('of a run of several workloads, that of the pod; where nobody can tell, all of them', async () => {
  const workloads = [WEB, { ...POD, name: 'lone', uid: 'lone' }]
  const refusalOf = async (entry: LedgerEntry) => (await told([{ workloads, entries: [entry] }])).refusals[0]!
  expect(await refusalOf(ofWeb('web-1'))).toMatchObject({ workloads: ['statefulset/web'] })
  expect(await refusalOf(entryOf('lone'))).toMatchObject({
    workloads: ['pod/lone'],
    resolve: { command: 'resolve', pod: 'lone', namespace: 'shop', gone: true, traffic: 'in' },
  })
  expect(await refusalOf(entryOf('other'))).toMatchObject({ workloads: ['statefulset/web', 'pod/lone'] })
})

test('what cannot be read may be out', async () => {
  const { refusals } = await told([{ entries: [ofWeb('web-1')] }], { reading: { ...OUT, state: 'unknown' } })
  expect(refusals).toMatchObject([{ code: 'left-open', run: 'r1', pod: 'web-1', standing: 'pod-gone-unsure' }])
})

test('what was left out for good by a run that has not told of it', async () => {
  const { refusals } = await told([{ entries: [ofWeb('web-1', { state: 'closed', leftOut: true })] }])
  expect(refusals).toMatchObject([{ code: 'left-open', pod: 'web-1', standing: 'gone-for-good', traffic: OUT.detail }])
})

test.each<{ what: string; run: Run; reading?: TrafficReading }>([
  { what: 'is in rotation', run: { entries: [ofWeb('web-1')] }, reading: { ...OUT, state: 'in' } },
  { what: 'was removed', run: { entries: [ofWeb('web-1')] }, reading: { ...OUT, removed: true } },
  { what: 'an operator had out', run: { entries: [ofWeb('web-1', { targets: untouched(ofWeb('web-1')) })] } },
  { what: 'is idle', run: { entries: [ofWeb('web-1', { idle: true })] } },
  { what: 'is of a run that is over', run: { entries: [ofWeb('web-1')], finishedAt: '2026-01-01T00:01:00Z' } },
])('control: nothing of what $what', async ({ run, reading = OUT }) => {
  expect((await told([run], { reading })).refusals).toEqual([])
})

function untouched({ targets }: LedgerEntry): LedgerEntry['targets'] {
  return targets.map((target) => ({ ...target, untouched: true }))
}
