import { KINDS } from '../../workloads/kinds/index.ts'
import { DEPLOYMENT } from '../../workloads/kinds/deployment.ts'
import { POD } from '../../workloads/kinds/pod.ts'
import { STATEFUL_SET } from '../../workloads/kinds/stateful-set.ts'
import { describe, expect, test } from 'vitest'
import type { LedgerEntry } from '../../journal/ledger.ts'
import type { KubeClient } from '../../kube/client.ts'
import { KubeError } from '../../kube/errors.ts'
import { rawPod } from '../../pods/testing/raw-pod.ts'
import { ghostsOf } from './ghosts.ts'
import type { RunLedgers } from '../ledgers/history.ts'
import { entryOf, ledgersOf, notFound } from '../testing/ledgers.ts'
import type { World } from '../world.ts'

/** The ghosts of a run with these entries, while these pods are seen. `onAsked` runs while the API server is asked for a pod. */
async function ghosts(entries: LedgerEntry[], seen: string[], onAsked: (pod: string) => unknown = () => undefined) {
  const ledger = { header: { run: 'r1', workloads: [] }, entries: new Map(entries.map((entry) => [entry.uid, entry])) }
  const client = {
    async get(path: string) {
      const name = path.split('/').at(-1)!
      const found = onAsked(name)
      if (found !== undefined) return found
      throw new KubeError('not found', { kind: 'definite', method: 'GET', path, status: 404, reason: 'NotFound' })
    },
  }
  const found = await ghostsOf({
    ledgers: { current: { ledger }, superseded: [], finished: [] } as unknown as RunLedgers,
    world: { store: { get: (uid: string) => seen.includes(uid) }, workloads: [] } as unknown as World,
    client: client as unknown as KubeClient,
    namespace: 'default',
    epochOf: () => 1,
  })
  return found.map(({ pod }) => pod.name)
}

test('a pod that is gone, and that the ledger has open, is a ghost', async () => {
  const closed = entryOf('web-1', { state: 'closed' })
  const untargeted = entryOf('web-0', { targets: [] })
  expect(await ghosts([entryOf('web-3'), entryOf('web-2'), closed, untargeted], ['uid of web-2'])).toEqual(['web-3'])
})

test('one that goes while another is asked for is one too: nothing else would settle what was drained for it', async () => {
  const seen = ['uid of web-3']
  expect(await ghosts([entryOf('web-3'), entryOf('web-2')], seen, () => void seen.pop())).toEqual(['web-2', 'web-3'])
})

test('one that lives on, where the selector has lost it, is none', async () => {
  const pod = rawPod({ name: 'web-2', uid: 'uid of web-2' })
  expect(await ghosts([entryOf('web-2')], [], () => pod)).toEqual([])
})

describe('of several pods that are gone, and had the same target', () => {
  const first = entryOf('web-1')
  const { targets } = first
  const second = entryOf('web-1b', { targets, order: 1 })
  const third = entryOf('web-1c', { targets, order: 2 })

  test('the last one counts', async () => {
    expect(await ghosts([third, first, second], [])).toEqual(['web-1c'])
    expect(await ghosts([first, second], ['uid of web-1b']), 'also where it is there').toEqual([])
  })

  test('control: for the last one it was left alone, or that had another', async () => {
    const untouched = entryOf('web-1b', { targets: [{ ...targets[0]!, untouched: true }], order: 1 })
    expect(await ghosts([first, untouched], [])).toEqual(['web-1', 'web-1b'])
    expect(await ghosts([first, entryOf('web-2', { order: 1 })], [])).toEqual(['web-1', 'web-2'])
  })
})

describe('a pod that is gone, and that a later run has settled', () => {
  const open = { startedAt: '1', entry: entryOf('web-2') }
  const settled = { startedAt: '2', entry: entryOf('web-2', { state: 'closed' }) }
  const names = async ({ ledgers }: ReturnType<typeof ledgersOf>): Promise<string[]> => {
    const found = await ghostsOf({
      ledgers,
      world: { store: { get: () => undefined }, workloads: [] } as unknown as World,
      client: notFound,
      namespace: 'default',
      epochOf: () => 1,
    })
    return found.map(({ pod }) => pod.name)
  }

  test('is none of an earlier one, whatever an operator has done to its entry since', async () => {
    expect(await names(ledgersOf(settled, [open]))).toEqual([])
    expect(await names(ledgersOf({ startedAt: '3', entry: entryOf('web-9', { targets: [] }) }, [open], [settled]))).toEqual([])
  })

  test('control: one that an earlier run has settled, and a later one has open', async () => {
    expect(await names(ledgersOf({ ...open, startedAt: '3' }, [], [settled]))).toEqual(['web-2'])
  })
})

describe('a pod that is gone, of a run of several workloads that another run goes on with in part', () => {
  const WEB = { ...STATEFUL_SET, name: 'web', uid: 'w' }
  const API = { ...DEPLOYMENT, name: 'api', uid: 'a' }
  const LONE = { ...POD, name: 'lone-1', uid: 'l' }
  const both = [WEB, API, LONE]
  const owner = (kind: string, name: string) => ({ owner: { kind, name, uid: name, apiVersion: 'apps/v1' } })
  const names = async (entry: LedgerEntry, refs: typeof both, pods: object[] = [], workloads = both): Promise<string[]> => {
    const { ledgers } = ledgersOf({ startedAt: '2', workloads: refs }, [{ startedAt: '1', entry, workloads }])
    const store = { get: () => undefined, all: () => pods.map((pod) => ({ pod })) }
    const found = await ghostsOf({
      ledgers,
      world: { kinds: KINDS, store, workloads: refs.map((ref) => ({ workload: { ref } })) } as unknown as World,
      client: notFound,
      namespace: 'default',
      epochOf: () => 1,
    })
    return found.map(({ pod }) => pod.name)
  }
  const ofWeb = entryOf('web-0', owner('StatefulSet', 'web'))
  const ofApi = entryOf('api-6c694d4cbf-abc12', owner('ReplicaSet', 'api-6c694d4cbf'))

  test('is none where its workload is not of this run', async () => {
    expect(await names(ofWeb, [API])).toEqual([])
    expect(await names(ofApi, [WEB])).toEqual([])
    expect(await names(entryOf('lone-1'), [WEB, API])).toEqual([])
  })

  test('control: it is', async () => {
    expect(await names(ofWeb, [WEB])).toEqual(['web-0'])
    expect(await names(ofApi, [API])).toEqual([ofApi.pod])
    expect(await names(entryOf('lone-1'), [LONE])).toEqual(['lone-1'])
  })

  test('nor where nothing tells of which it is, unless all are of this run', async () => {
    const byHand = entryOf('odd-abc12', owner('ReplicaSet', 'odd'))
    expect(await names(byHand, [API, WEB])).toEqual([])
    expect(await names(byHand, both)).toEqual(['odd-abc12'])
  })

  test('one of a ReplicaSet without a Deployment is of the run that has the one in its place', async () => {
    const gone = entryOf('lone-1', { ...owner('ReplicaSet', 'lone'), address: '10.0.0.1' })
    const next = { ...POD, name: 'lone-2', uid: 'n' }
    const pod = { uid: 'other', name: 'lone-2', ip: '10.0.0.1', deleting: false, owner: gone.owner }
    expect(await names(gone, [next], [pod])).toEqual(['lone-1'])
    expect(await names(gone, [next], [{ ...pod, ip: '10.0.0.2' }]), 'control: it has come elsewhere').toEqual([])
    expect(await names(gone, [next], [{ ...pod, name: 'lone-3' }]), 'control: it is of another run').toEqual([])
  })
})
