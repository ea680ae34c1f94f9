import { STATEFUL_SET } from '../../workloads/kinds/stateful-set.ts'
import { describe, expect, test } from 'vitest'
import type { Observation } from '../../../machines/pod-upgrade/context.ts'
import type { Ledger, LedgerEntry, LedgerHeader } from '../../journal/ledger.ts'
import { LEDGER_LABEL, ledgerChunks } from '../../journal/ledger.ts'
import { createVirtualClock } from '../../kube/testing/virtual-clock.ts'
import type { RunEventBody } from '../events.ts'
import { createFakeApi } from '../../workloads/testing/fake-api.ts'
import { NAMESPACE } from '../../workloads/testing/manifests.ts'
import { openRunLedger } from './history.ts'
import type { RunPorts, RunRequest } from '../request.ts'
import { entryOf } from '../testing/ledgers.ts'
import type { World } from '../world.ts'

const WEB = { ...STATEFUL_SET, name: 'web', uid: 'web-uid' } as const
const TERM = { lease: 'lease-1', epoch: 4 }
const V2 = [{ container: 'app', image: 'app:v2' }]
const V3 = [{ container: 'app', image: 'app:v3' }]

type Recorded = Pick<LedgerHeader, 'run' | 'startedAt'> & Partial<LedgerHeader> & { entry?: LedgerEntry; broken?: true }

/** The ledger that a run to v2 writes beside these. */
async function opened(...before: Recorded[]) {
  return openedWith(undefined, ...before)
}

/** The same with one pod, which the plan begins with, or continues where an earlier run has left it half done. */
async function openedWith(halfDone: Observation | undefined, ...before: Recorded[]) {
  return openedWhere(false, halfDone, ...before)
}

async function openedWhere(isQuiet: boolean, halfDone: Observation | undefined, ...before: Recorded[]) {
  const api = createFakeApi()
  const told: RunEventBody[] = []
  for (const { entry, broken, ...header } of before) {
    const entries = new Map(entry ? [[entry.uid, entry]] : [])
    const [data] = ledgerChunks({ header: { workloads: [WEB], images: V2, chunks: 1, ...header }, entries })
    const metadata = { name: `sluice-run-${header.run}`, labels: { [LEDGER_LABEL]: header.run } }
    api.put(`/api/v1/namespaces/${NAMESPACE}/configmaps/${metadata.name}`, { metadata, data: broken ? { header: '{' } : data })
  }
  const create = async (path: string, body: unknown) =>
    api.put(`${path}/${(body as { metadata: { name: string } }).metadata.name}`, body as Parameters<typeof api.put>[1])
  const client = { ...api.client, create }
  const clock = { ...createVirtualClock(), wallNow: () => Date.parse('2026-05-05') }
  const { current, resumed, superseded, finished } = await openRunLedger({
    request: { namespace: NAMESPACE } as unknown as RunRequest,
    ports: { client, clock } as unknown as RunPorts,
    world: {
      workloads: [{ workload: { ref: WEB, uid: WEB.uid }, assessment: {} }],
      plan: () => ({ images: V2, pods: halfDone ? [{ uid: halfDone.pod.uid, action: 'adopt' }] : [] }),
      undoing: () => undefined,
      retired: () => [],
      own() {},
      boundOf: () => (isQuiet ? TERM : undefined),
      store: { get: () => halfDone },
      targetsOf: () => undefined,
      workloadOf: () => undefined,
      imagesFor: () => V2,
    } as unknown as World,
    token: 'new',
    tell: (event) => void told.push(event),
    assertOwned: () => {},
    owners: { epochOf: () => 4, termOf: () => TERM },
  })
  const runs = (list: readonly { ledger: Ledger }[]): string[] => list.map(({ ledger }) => ledger.header.run)
  const { run, startedAt } = current.ledger.header
  const states = Array.from(current.ledger.entries.values(), ({ state }) => state)
  const voidBelow = Array.from(current.ledger.entries.values(), (entry) => entry.voidBelow)
  return { run, startedAt, resumed, states, voidBelow, superseded: runs(superseded), finished: runs(finished), told }
}

const EARLY = '2026-01-01T00:00:00.000Z'
const LATER = '2026-02-02T00:00:00.000Z'

test('the same request is gone on with', async () => {
  const other = { run: 'other', startedAt: EARLY, images: V3 }
  expect(await opened(other, { run: 'same', startedAt: LATER })).toMatchObject({
    run: 'same',
    resumed: true,
    superseded: ['other'],
  })
})

describe('not where another came after it: what that one has closed would be open again under an older record', () => {
  test('and is open', async () => {
    expect(await opened({ run: 'same', startedAt: EARLY }, { run: 'other', startedAt: LATER, images: V3 })).toMatchObject({
      run: 'new',
      resumed: false,
      superseded: ['other', 'same'],
    })
  })

  test('and is finished', async () => {
    const other = { run: 'other', startedAt: LATER, images: V3, finishedAt: LATER }
    expect(await opened({ run: 'same', startedAt: EARLY }, other)).toMatchObject({
      run: 'new',
      superseded: ['same'],
      finished: ['other'],
    })
  })
})

test('a record that cannot be read is told of, and the others are gone on with', async () => {
  const same = { run: 'same', startedAt: LATER }
  const reason = { code: 'ledger-unreadable', run: 'broken', problem: { code: 'record-not-json' } }
  expect(await opened({ run: 'broken', startedAt: EARLY, broken: true }, same)).toMatchObject({
    run: 'same',
    resumed: true,
    told: [{ type: 'warning', reason }],
  })
  expect((await opened(same)).told, 'control').toEqual([])
})

test('a new one comes after those before it, though another machine’s clock was ahead', async () => {
  const ahead = { run: 'other', startedAt: '2027-07-07T00:00:00.000Z', images: V3 }
  expect(await opened(ahead)).toMatchObject({ run: 'new', startedAt: '2027-07-07T00:00:00.001Z' })
  expect(await opened({ ...ahead, startedAt: EARLY })).toMatchObject({ run: 'new', startedAt: '2026-05-05T00:00:00.000Z' })
})

test('what the run before has settled for a pod that is going stays so in the next one’s record', async () => {
  const settled = { run: 'other', startedAt: EARLY, images: V3, entry: entryOf('web-0', { state: 'closed' }) }
  const journal = { run: 'other', epoch: 1, attempt: 1, step: 'drain', baseline: [], targets: settled.entry.targets } as const
  const statesOf = async (deleting: boolean, ...before: Recorded[]): Promise<string[]> => {
    const pod = { uid: settled.entry.uid, name: 'web-0', deleting, containers: [] }
    const halfDone = { pod, stored: { kind: 'read', journal } } as unknown as Observation
    return (await openedWith(halfDone, ...before)).states
  }
  expect(await statesOf(true, settled)).toEqual(['closed'])
  expect(await statesOf(false, settled), 'control: it stays, and may be drained again').toEqual(['open'])
  const open = { ...settled, entry: entryOf('web-0') }
  expect(await statesOf(true, open), 'control: it is open there').toEqual(['open'])
})

test('a new record says of which pods nothing was open by then: a drain intent of an earlier owner comes late from now on', async () => {
  const pod = { uid: entryOf('web-0').uid, name: 'web-0', containers: [] }
  const observed = { pod, stored: { kind: 'none' } } as unknown as Observation
  expect((await openedWhere(true, observed)).voidBelow).toEqual([TERM])
  expect((await openedWhere(false, observed)).voidBelow, 'control: nobody knows').toEqual([undefined])
})
