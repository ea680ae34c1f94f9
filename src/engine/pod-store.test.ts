import { expect, test } from 'vitest'
import { writeJournal } from '../journal/journal.ts'
import { realisticJournal } from '../journal/testing/journals.ts'
import { createVirtualClock } from '../kube/testing/virtual-clock.ts'
import type { RawPodOptions } from '../pods/testing/raw-pod.ts'
import { rawPod } from '../pods/testing/raw-pod.ts'
import { JOURNAL_KEY } from '../pods/view.ts'
import { createFakeApi } from '../workloads/testing/fake-api.ts'
import type { PodStore } from './pod-store.ts'
import { openPodStore } from './pod-store.ts'

const journal = (attempt: number): string => writeJournal({ ...realisticJournal, attempt })

async function open(): Promise<{ store: PodStore; see(version: number, options: RawPodOptions): unknown }> {
  const store = await openPodStore({
    client: createFakeApi().client,
    clock: createVirtualClock(),
    random: { next: () => 0 },
    namespace: 'shop',
    selector: { labelSelector: 'app=web' },
    onChange() {},
    onGone() {},
    onSight() {},
    onError(error) {
      throw error
    },
  })
  return { store, see: (version, options) => store.observe(rawPod({ ...options, resourceVersion: String(version) })).stored }
}

test('a journal is read once, however many versions of the pod have it', async () => {
  const { store, see } = await open()
  const annotations = { [JOURNAL_KEY]: journal(1) }
  const first = see(10, { annotations, ready: true })
  expect(see(11, { annotations, ready: false })).toBe(first)
  expect(store.get('uid-0')?.pod.ready).toBe(false)
  await store.stop()
})

test.each([
  {
    name: 'annotation',
    before: { annotations: { [JOURNAL_KEY]: journal(1) } },
    now: { annotations: { [JOURNAL_KEY]: journal(2) } },
  },
  { name: 'condition', before: { journalCondition: journal(1) }, now: { journalCondition: journal(2) } },
])('another in the $name is read anew', async ({ before, now }) => {
  const { store, see } = await open()
  expect(see(10, before)).toMatchObject({ kind: 'read', journal: { attempt: 1 } })
  expect(see(11, now)).toMatchObject({ kind: 'read', journal: { attempt: 2 } })
  expect(see(12, {})).toEqual({ kind: 'none' })
  await store.stop()
})

test('a condition that somebody has emptied of its message is none that never was', async () => {
  const { store, see } = await open()
  const emptied = rawPod({ resourceVersion: '11', journalCondition: '' })
  delete emptied.status.conditions[0].message
  expect(see(10, {})).toEqual({ kind: 'none' })
  expect(store.observe(emptied).stored).toMatchObject({ kind: 'unreadable' })
  await store.stop()
})
