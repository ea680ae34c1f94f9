import { beforeEach, expect, test } from 'vitest'
import { journalOf, writeJournal } from '../../journal/journal.ts'
import type { KubeClient } from '../../kube/client.ts'
import { KubeError } from '../../kube/errors.ts'
import type { Journal, PodView } from '../../pods/glossary.ts'
import { rawPod } from '../../pods/testing/raw-pod.ts'
import { JOURNAL_KEY, podView } from '../../pods/view.ts'
import { createFakeApi } from '../../workloads/testing/fake-api.ts'
import { NAMESPACE } from '../../workloads/testing/manifests.ts'
import { entryOf, ledgersOf } from '../testing/ledgers.ts'
import type { World } from '../world.ts'
import { fencePods } from './fence-pods.ts'

const WEB = { kind: 'StatefulSet', name: 'web', uid: 'w' }
const OWNER = { kind: 'StatefulSet', name: 'web', uid: 'w', apiVersion: 'apps/v1' }
const EPOCH = 5
const pathOf = (name: string): string => `/api/v1/namespaces/${NAMESPACE}/pods/${name}`
const journal: Journal = { run: '1', epoch: 4, attempt: 2, step: 'closed', baseline: [], targets: [] }

let api: ReturnType<typeof createFakeApi>
let held: boolean
let cutShort: boolean
let patches: number
/** Before the patch of that number is carried out. */
let beforePatch: (count: number) => void

beforeEach(() => {
  api = createFakeApi()
  held = true
  cutShort = false
  patches = 0
  beforePatch = () => {}
})

function put(name: string, change: { journal?: Journal; deleting?: boolean } = {}): void {
  const annotations = change.journal ? { [JOURNAL_KEY]: writeJournal(change.journal, `uid of ${name}`) } : {}
  const raw = rawPod({ name, uid: `uid of ${name}`, annotations })
  if (change.deleting) raw.metadata.deletionTimestamp = '2026-01-01T00:00:00Z'
  api.put(pathOf(name), raw)
}

/** Of a run that was begun before, on those of these pods that are there. */
async function fenced(names: readonly string[], { resumed = true, change = {}, wanted = 'app:v9' } = {}) {
  const { ledgers } = ledgersOf({ startedAt: '1', workloads: [WEB] })
  for (const name of names) ledgers.current.ledger.entries.set(`uid of ${name}`, entryOf(name, { owner: OWNER, ...change }))
  const client: KubeClient = {
    ...api.client,
    async patch(path, operations) {
      beforePatch((patches += 1))
      return api.client.patch(path.replace('/status', ''), operations)
    },
  }
  const world = {
    workloads: [{ workload: { ref: WEB } }],
    imagesFor: () => [{ container: 'app', image: wanted }],
    store: { get: () => undefined },
  } as unknown as World
  const unfenced = await fencePods({
    ledgers: { ...ledgers, resumed },
    world,
    owners: { epochOf: () => EPOCH },
    assertOwned() {
      if (!held) throw new Error('the Lease is not held any more')
    },
    client,
    namespace: NAMESPACE,
    isCutShort: () => cutShort,
  })
  return Array.from(unfenced.values())
}

function viewOf(name: string): PodView {
  return podView(api.get(pathOf(name)))
}

test('a pod without a journal, or with a closed one, has one of this owner after that, over which nothing older is carried out', async () => {
  put('web-0')
  put('web-1', { journal })
  const before = viewOf('web-1')
  expect(await fenced(['web-0', 'web-1'])).toEqual([])
  const closed = { run: '1', epoch: EPOCH, step: 'closed' }
  expect(journalOf(viewOf('web-0'))).toMatchObject({ kind: 'read', journal: { ...closed, attempt: 1 } })
  expect(journalOf(viewOf('web-1'))).toMatchObject({ kind: 'read', journal: { ...closed, attempt: 2 } })
  expect(viewOf('web-1').journal).not.toEqual(before.journal)
})

test.each([
  ['open by its journal', { journal: { ...journal, step: 'drain' as const } }],
  ['of this owner', { journal: { ...journal, epoch: EPOCH } }],
  ['going', { deleting: true }],
])('one that is %s is left alone', async (_, change) => {
  put('web-0', change)
  expect(await fenced(['web-0'])).toEqual([])
  expect(patches).toBe(0)
})

test('so is one that this run has brought to its images, and one that is gone', async () => {
  put('web-0', { journal })
  const { image } = viewOf('web-0').containers[0]!
  expect(await fenced(['web-0', 'web-7'], { wanted: image })).toEqual([])
  expect(patches).toBe(0)
  // Control: it is on others.
  expect(await fenced(['web-0'])).toEqual([])
  expect(patches).toBe(1)
})

test('nothing is written where no owner came before, or where it has said that nothing is drained', async () => {
  put('web-0')
  await fenced(['web-0'], { resumed: false })
  await fenced(['web-0'], { change: { idle: true } })
  await fenced(['web-0'], { change: { owner: { ...OWNER, name: 'other' }, pod: 'other-0' } })
  expect(patches).toBe(0)
  await fenced(['web-0'])
  expect(patches).toBe(1)
  put('web-0')
  await fenced(['web-0'], { change: { idle: true, unfenced: true } })
  expect(patches).toBe(2)
})

test('an intent that arrives in the middle of it stands, and is no business of this', async () => {
  put('web-0')
  beforePatch = () => put('web-0', { journal: { ...journal, step: 'drain' } })
  expect(await fenced(['web-0'])).toEqual([])
  expect(journalOf(viewOf('web-0'))).toMatchObject({ journal: { step: 'drain', epoch: 4 } })
})

test('a write whose answer is lost is looked at; one that never comes through is told', async () => {
  put('web-0')
  beforePatch = (count) => {
    if (count === 1) throw new KubeError('no answer', { kind: 'ambiguous', method: 'PATCH', path: '' })
  }
  expect(await fenced(['web-0'])).toEqual([])
  expect(patches).toBe(2)
  put('web-1')
  beforePatch = () => {
    throw new KubeError('403 Forbidden', { kind: 'definite', method: 'PATCH', path: '', status: 403 })
  }
  expect(await fenced(['web-1'])).toEqual([{ pod: 'web-1', reason: '403 Forbidden' }])
})

test('who has lost the Lease, or has no time, writes nothing, and says of whom', async () => {
  put('web-0')
  held = false
  expect(await fenced(['web-0'])).toEqual([{ pod: 'web-0', reason: 'the Lease is not held any more' }])
  held = true
  cutShort = true
  expect(await fenced(['web-0'])).toEqual([{ pod: 'web-0', reason: 'interrupted' }])
  expect(patches).toBe(0)
})
