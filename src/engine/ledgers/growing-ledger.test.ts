import { STATEFUL_SET } from '../../workloads/kinds/stateful-set.ts'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Observation } from '../../../machines/pod-upgrade/context.ts'
import type { Ledger, LedgerEntry } from '../../journal/ledger.ts'
import { ENTRIES_PER_CHUNK } from '../../journal/ledger.ts'
import { KubeError } from '../../kube/errors.ts'
import { createVirtualClock } from '../../kube/testing/virtual-clock.ts'
import { testPod } from '../../pods/testing/raw-pod.ts'
import { createFakeApi } from '../../workloads/testing/fake-api.ts'
import { NAMESPACE } from '../../workloads/testing/manifests.ts'
import type { RunPorts, RunRequest } from '../request.ts'
import { entryOf } from '../testing/ledgers.ts'
import type { World } from '../world.ts'
import { openRunLedger } from './history.ts'
import type { AssertOwned } from './create-part.ts'
import type { LedgerStore } from './ledger-store.ts'
import { createLedger, resumeLedger } from './ledger-store.ts'
import { listLedgers } from './list-ledgers.ts'

/* A run that began with few pods is continued for many, or gets many pods while it goes on. */

const CONFIG_MAPS = `/api/v1/namespaces/${NAMESPACE}/configmaps`
const WEB = { ...STATEFUL_SET, name: 'web', uid: 'web-uid' } as const
const V2 = [{ container: 'app', image: 'app:v2' }]

let api: ReturnType<typeof createFakeApi>
let options: { client: RunPorts['client']; namespace: string }
/** The writes, such as `POST sluice-run-abc-1`. */
let writes: string[]
/** Runs before a write is carried out, or after it, and may throw. */
let before: (write: string) => void
let after: (write: string) => void

beforeEach(() => {
  api = createFakeApi()
  writes = []
  before = () => {}
  after = () => {}
  const { client } = api
  async function write<T>(method: string, path: string, carryOut: () => Promise<T>): Promise<T> {
    const text = `${method} ${path.split('/').at(-1)}`
    before(text)
    writes.push(text)
    const answer = await carryOut()
    after(text)
    return answer
  }
  options = {
    namespace: NAMESPACE,
    client: {
      ...client,
      patch: (path, operations) => write('PATCH', path, () => client.patch(path, operations)),
      create(path, body) {
        const at = `${path}/${(body as { metadata: { name: string } }).metadata.name}`
        return write('POST', at, async () => {
          if (api.get(at)) throw refusal('POST', at, 409, 'AlreadyExists')
          return api.put(at, body)
        })
      },
    },
  }
})

function refusal(method: string, path: string, status: number, reason: string): KubeError {
  return new KubeError(reason, { kind: status === 409 ? 'conflict' : 'definite', method, path, status, reason })
}

const noAnswer = (): never => {
  throw new KubeError('no answer', { kind: 'ambiguous', method: 'PATCH', path: '' })
}

const entries = (from: number, to: number): LedgerEntry[] =>
  Array.from({ length: to - from }, (_, index) => entryOf(`web-${from + index}`))

async function begun(count: number): Promise<LedgerStore> {
  const header = { run: 'abc', workloads: [WEB], images: V2, startedAt: '2026-01-01T00:00:00.000Z', chunks: 1 }
  const store = await createLedger({ header, entries: new Map(entries(0, count).map((one) => [one.uid, one])) }, options)
  writes.length = 0
  return store
}

async function goneOnWith(): Promise<LedgerStore> {
  const [found] = await listLedgers(options.client, NAMESPACE)
  if (found?.kind !== 'read') throw new Error(`not one that can be read: ${JSON.stringify(found)}`)
  return resumeLedger(found, options)
}

async function stored(): Promise<Ledger> {
  return (await goneOnWith()).ledger
}

/** The number of pods in each ConfigMap of the ledger. */
function sizes(): number[] {
  return api
    .list(CONFIG_MAPS)
    .toSorted(([one], [other]) => one.localeCompare(other, 'en', { numeric: true }))
    .map(([, { data }]) => Object.keys(data).filter((key) => key !== 'header' && key !== 'fence').length)
}

const owned: AssertOwned = () => {}

test('a run of one pod is gone on with for many more than one ConfigMap holds, in a few writes', async () => {
  await begun(1)
  const pods = Array.from({ length: 2_500 }, (_, index) => testPod({ name: `web-${index}`, uid: `uid of web-${index}` }))
  const observed = new Map(pods.map((pod) => [pod.uid, { pod, stored: { kind: 'none' } } as unknown as Observation]))
  const { current, resumed } = await openRunLedger({
    request: { namespace: NAMESPACE } as unknown as RunRequest,
    ports: { client: options.client, clock: createVirtualClock() } as unknown as RunPorts,
    world: {
      workloads: [{ workload: { ref: WEB, uid: WEB.uid }, assessment: {} }],
      plan: () => ({ images: V2, pods: pods.map(({ uid }) => ({ uid, action: 'upgrade' })) }),
      undoing: () => undefined,
      retired: () => [],
      own() {},
      boundOf: () => undefined,
      store: { get: (uid: string) => observed.get(uid) },
      targetsOf: () => entryOf('web-0').targets,
      workloadOf: () => undefined,
      imagesFor: () => V2,
    } as unknown as World,
    token: 'new',
    tell: () => {},
    owners: { epochOf: () => 1, termOf: () => ({ lease: 'lease', epoch: 1 }) },
    assertOwned: owned,
  })
  expect([resumed, current.ledger.header.run]).toEqual([true, 'abc'])
  // The first write is the fence.
  expect(writes).toEqual([
    'PATCH sluice-run-abc',
    'POST sluice-run-abc-3',
    'POST sluice-run-abc-2',
    'POST sluice-run-abc-1',
    'PATCH sluice-run-abc',
  ])
  const { header, entries: read } = await stored()
  expect([header.chunks, read.size, sizes()]).toEqual([4, 2_500, [1, 1000, 1000, 499]])
  // The ledger in memory equals the stored one.
  expect(current.ledger).toEqual({ header, entries: read })
  writes.length = 0
  for (const name of ['web-0', 'web-1500', 'web-2400']) await current.put({ ...read.get(`uid of ${name}`)!, state: 'closed' })
  expect(writes).toEqual(['PATCH sluice-run-abc', 'PATCH sluice-run-abc-2', 'PATCH sluice-run-abc-3'])
})

test('those for whom there is room come into the last ConfigMap, in one write', async () => {
  await begun(ENTRIES_PER_CHUNK + 1)
  const store = await goneOnWith()
  await store.add(entries(0, ENTRIES_PER_CHUNK + 9), owned)
  expect([writes, sizes()]).toEqual([['PATCH sluice-run-abc-1'], [1000, 9]])
  await store.add(entries(0, ENTRIES_PER_CHUNK + 9), owned)
  expect(writes).toHaveLength(1)
})

describe('where it is cut off before the header says how many there are', () => {
  test.each([
    { when: 'before that is sent', cut: () => (before = (write) => void (write.startsWith('PATCH') && noAnswer())) },
    { when: 'after the first part', cut: () => (after = (write) => void (write === 'POST sluice-run-abc-2' && killed())) },
  ])('$when: the next one goes on, and nothing is left of pods that have gone since', async ({ cut }) => {
    await begun(1)
    const first = await goneOnWith()
    cut()
    await expect(first.add(entries(1, 2_000), owned)).rejects.toThrow(/no answer|killed/)
    before = after = () => {}
    // The parts of a run that goes on do not count.
    expect((await stored()).entries.size).toBe(1)

    const next = await goneOnWith()
    await next.add(entries(1, 1_900), owned)
    expect([(await stored()).entries.size, sizes()]).toEqual([1_900, [1, 1000, 899]])
    await next.conclude({ finished: { at: '2026-01-01T00:01:00Z' } })
    expect((await stored()).header).toMatchObject({ chunks: 3, finishedAt: '2026-01-01T00:01:00Z' })
  })

  const killed = (): never => {
    throw new Error('killed')
  }

  test('and it has the Lease no more, it writes nothing further', async () => {
    await begun(1)
    const store = await goneOnWith()
    let isLost = false
    after = () => (isLost = true)
    const assertOwned = (): void => {
      if (isLost) throw new Error('taken')
    }
    await expect(store.add(entries(1, 1_001), assertOwned)).rejects.toThrow('taken')
    expect(writes).toEqual(['POST sluice-run-abc-1'])
    // The remains of an earlier try are not overwritten either.
    isLost = false
    before = (write) => void (write === 'POST sluice-run-abc-1' && (isLost = true))
    await expect(store.add(entries(1, 1_001), assertOwned)).rejects.toThrow('taken')
    expect(writes.filter((write) => write.startsWith('PATCH'))).toEqual([])
  })
})

test('one that has come to its end since it was read is not opened anew', async () => {
  await begun(1)
  const [late, other] = [await goneOnWith(), await goneOnWith()]
  await other.conclude({ finished: { at: 'now' } })
  await expect(late.add(entries(1, 1_002), owned)).rejects.toMatchObject({ kind: 'conflict' })
  expect((await stored()).header).toMatchObject({ chunks: 1, finishedAt: 'now' })
})

describe('pods that come in the middle of a run, when the last ConfigMap is full', () => {
  test('come into another, which several that come at once have together', async () => {
    const store = await begun(ENTRIES_PER_CHUNK)
    await Promise.all(entries(1_000, 1_003).map((entry) => store.put(entry)))
    expect([sizes(), (await stored()).header.chunks]).toEqual([[1000, 3], 2])
    await store.put(entryOf('web-1001', { state: 'closed' }))
    await store.conclude({ finished: { at: 'now' } })
    const { header, entries: read } = await stored()
    expect([header.chunks, header.finishedAt, read.size]).toEqual([2, 'now', 1003])
    expect(read.get('uid of web-1001')?.state).toBe('closed')
  })

  test('also where the run comes to its end meanwhile', async () => {
    const store = await begun(ENTRIES_PER_CHUNK)
    let ending: Promise<void> | undefined
    before = (write) => void (write === 'PATCH sluice-run-abc' && (ending ??= store.conclude({ finished: { at: 'now' } })))
    await store.put(entryOf('late'))
    await ending
    const { header, entries: read } = await stored()
    expect([header.chunks, header.finishedAt, read.size]).toEqual([2, 'now', 1001])
  })

  test('once, where the same pod is looked at anew meanwhile', async () => {
    const store = await begun(ENTRIES_PER_CHUNK)
    const early = store.put(entryOf('late', { address: '10.0.0.8' }))
    await new Promise(setImmediate)
    const both = [early, store.put(entryOf('late', { address: '10.0.0.9' }))]
    await Promise.allSettled(both)
    const { entries: read } = await stored()
    expect([sizes(), read.get('uid of late')?.address]).toEqual([[1000, 1], '10.0.0.9'])
  })

  test('once more, where nobody knows whether it was written', async () => {
    const store = await begun(ENTRIES_PER_CHUNK)
    after = (write) => void (write === 'PATCH sluice-run-abc' && noAnswer())
    await expect(store.put(entryOf('late'))).rejects.toThrow('no answer')
    after = () => {}
    await store.put(entryOf('late', { address: '10.0.0.9' }))
    const { header, entries: read } = await stored()
    expect([header.chunks, sizes(), read.get('uid of late')?.address]).toEqual([2, [1000, 1], '10.0.0.9'])
  })
})
