import { expect, test } from 'vitest'
import { createVirtualClock } from '../../kube/testing/virtual-clock.ts'
import { KubeError } from '../../kube/errors.ts'
import { createFakeApi } from '../../workloads/testing/fake-api.ts'
import { createAttempts } from './attempts.ts'
import { readLeases, watchLeases } from './watch-leases.ts'

const PATH = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/node-1'

/** The heartbeat of a node that renewed its Lease `agoMs` ago by its clock, which is that of the test. */
async function watched({
  agoMs = 0,
  doubted = false,
  renewsAfterMs,
}: {
  agoMs?: number
  doubted?: boolean
  renewsAfterMs?: number
}) {
  const clock = createVirtualClock()
  const api = createFakeApi()
  const at = (ms: number): string => new Date(ms).toISOString().replace('Z', '000Z')
  const renew = (ms: number): void => api.put(PATH, { metadata: {}, spec: { leaseDurationSeconds: 40, renewTime: at(ms) } })
  const first = clock.wallNow() - agoMs
  renew(first)
  const leases = await readLeases(['node-1'], api.client, createAttempts())
  if (renewsAfterMs !== undefined) clock.setTimeout(() => renew(clock.wallNow()), renewsAfterMs)
  const begun = clock.now()
  let beats: Awaited<ReturnType<typeof watchLeases>> | undefined
  const { signal } = new AbortController()
  const names = new Set(doubted ? ['node-1'] : [])
  const told: unknown[] = []
  const onWatching = (watch: unknown): void => void told.push(watch)
  void watchLeases(leases, names, { client: api.client, clock, signal, onWatching }).then((found) => (beats = found))
  await clock.runUntil(() => beats !== undefined)
  return { beat: beats!.get('node-1'), tookMs: clock.now() - begun, first: at(first), told }
}

test('a Lease that was renewed just now is not watched', async () => {
  const { beat, tookMs, first, told } = await watched({ agoMs: 9_000 })
  expect([beat, tookMs, told]).toEqual([{ renewedAt: first }, 0, []])
})

test('a Lease that seems old is watched for as long as a kubelet takes to renew it, and told as silent', async () => {
  const { beat, first, told } = await watched({ agoMs: 60_000 })
  expect(beat).toEqual({ renewedAt: first, seen: 'silent', watchedMs: 12_000 })
  expect(told).toEqual([{ nodes: ['node-1'], forMs: 12_000 }])
})

test('a clock of a node that is behind makes no silence: the renewal is seen', async () => {
  const { beat, first } = await watched({ agoMs: 3_600_000, renewsAfterMs: 4_500 })
  expect(beat).toMatchObject({ seen: 'renewed', watchedMs: 5_000 })
  expect(beat!.renewedAt).not.toBe(first)
})

test('a node in doubt is watched whatever its Lease says', async () => {
  expect((await watched({ doubted: true })).beat).toMatchObject({ seen: 'silent' })
  expect((await watched({ doubted: true, renewsAfterMs: 2_000 })).beat).toMatchObject({ seen: 'renewed' })
})

test('Leases that may not be read are told, and one that is not there is none', async () => {
  const api = createFakeApi()
  const none = createAttempts()
  expect((await readLeases(['node-1'], api.client, none)).size).toBe(0)
  expect(none.unread).toEqual([])
  api.faults.before = (method, path) => {
    throw new KubeError('no', { kind: 'definite', method, path, status: 403, reason: 'Forbidden' })
  }
  const refused = createAttempts()
  expect((await readLeases(['node-1'], api.client, refused)).size).toBe(0)
  expect(refused.unread).toMatchObject([{ what: 'leases', decides: false, because: { code: 'api-error', status: 403 } }])
})
