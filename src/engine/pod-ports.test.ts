import { expect, test } from 'vitest'
import type { StoreAnswer } from '../../machines/pod-upgrade/ports.ts'
import type { KubeClient } from '../kube/client.ts'
import type { Journal } from '../pods/glossary.ts'
import { testPod } from '../pods/testing/raw-pod.ts'
import { createPodPorts } from './pod-ports.ts'
import type { PodPortOptions } from './pod-ports.ts'

const journal: Journal = { run: 'run-1', epoch: 4, attempt: 1, step: 'restore', baseline: [], targets: [] }

/** Writes the close of `journal`, where the pod shows `stored`; tells what was sent. */
async function close(stored: Journal, isOwned = true): Promise<{ answer: StoreAnswer; sent: string[] }> {
  const sent: string[] = []
  const pod = testPod({ containers: [{ name: 'app', image: 'app:v1' }] })
  const observation = { pod, stored: { kind: 'read' as const, journal: stored } }
  const client = { patch: async (path: string) => void sent.push(path) } as unknown as KubeClient
  const ports = createPodPorts({
    client,
    namespace: 'default',
    store: { observe: () => observation },
    isOwned: () => isOwned,
  } as unknown as PodPortOptions)
  const answer = await ports.store({ ...observation, uid: pod.uid, wanted: [], record: { ...journal, step: 'closed' } })
  return { answer, sent }
}

test('what a later owner has written is not overwritten, though the guard would be made of it', async () => {
  const { answer, sent } = await close({ ...journal, epoch: 5 })
  expect([answer.kind, sent]).toEqual(['rejected', []])
  const other = await close({ ...journal, run: 'run-2' })
  expect([other.answer.kind, other.sent]).toEqual(['rejected', []])
})

test('control: its own record is', async () => {
  const { answer, sent } = await close(journal)
  expect(answer.kind).toBe('stored')
  expect(sent).toHaveLength(1)
})

test('nothing is written to the ledger without the Lease', async () => {
  const written: string[] = []
  const pod = testPod({ containers: [{ name: 'app', image: 'app:v1' }] })
  const settle = (isOwned: boolean): Promise<{ kind: string }> =>
    createPodPorts({
      podOf: () => pod,
      ledger: { ledger: { entries: new Map() }, put: async ({ state }: { state: string }) => void written.push(state) },
      isOwned: () => isOwned,
    } as unknown as PodPortOptions).settle({ uid: pod.uid, targets: [], settlement: 'restore' })
  expect([(await settle(false)).kind, written]).toEqual(['unknown', []])
  expect([(await settle(true)).kind, written]).toEqual(['stored', ['restore']])
})

test('nothing is sent without the Lease', async () => {
  const { answer, sent } = await close(journal, false)
  expect([answer.kind, sent]).toEqual(['unknown', []])
})
