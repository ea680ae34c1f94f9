import { STATEFUL_SET } from '../../workloads/kinds/stateful-set.ts'
import { describe, expect, it } from 'vitest'
import { said } from '../testing/said.ts'
import { applyPatch, PatchRefused } from '../../journal/testing/json-patch.ts'
import type { ProcessAccount } from '../../journal/account.ts'
import { readProcessAccount } from '../../journal/account.ts'
import type { Ledger, LedgerEntry, PlacedLedger, ReadLedger } from '../../journal/ledger.ts'
import { ENTRIES_PER_CHUNK } from '../../journal/ledger.ts'
import type { KubeClient, WriteOptions } from '../../kube/client.ts'
import { KubeError } from '../../kube/errors.ts'
import { fenceLedger } from './fence-ledger.ts'
import { createLedger, resumeLedger } from './ledger-store.ts'
import { listLedgers } from './list-ledgers.ts'

const NAMESPACE = 'shop'

interface ConfigMap {
  metadata: { name: string; labels: Record<string, string>; resourceVersion: string }
  data: Record<string, string>
}

/** An API server of ConfigMaps. */
function server() {
  const configMaps = new Map<string, ConfigMap>()
  const patches: string[] = []
  let most = Number.POSITIVE_INFINITY
  let largest = Number.POSITIVE_INFINITY
  let answers = true
  let isThrottled = false
  const refuse = (method: string, path: string, status: number, reason: string): never => {
    throw new KubeError(`${status} ${reason}`, { kind: status === 409 ? 'conflict' : 'definite', method, path, status, reason })
  }
  let version = 0
  const written = (one: ConfigMap): ConfigMap => ({ ...one, metadata: { ...one.metadata, resourceVersion: `${++version}` } })
  const client = {
    async get(path: string) {
      const name = path.split('/').at(-1)!
      if (!path.includes('?') && name !== 'configmaps') return configMaps.get(name)
      return { metadata: { resourceVersion: '1' }, items: [...configMaps.values()] }
    },
    async create(path: string, body: ConfigMap) {
      if (configMaps.has(body.metadata.name)) refuse('POST', path, 409, 'AlreadyExists')
      configMaps.set(body.metadata.name, written(body))
      return body
    },
    async patch(path: string, operations: Parameters<typeof applyPatch>[1], { beforeAgain }: WriteOptions = {}) {
      if (isThrottled) await beforeAgain?.()
      const name = path.split('/').at(-1)!
      if (operations.length > most) refuse('PATCH', path, 413, 'RequestEntityTooLarge')
      patches.push(name)
      const found = configMaps.get(name) ?? refuse('PATCH', path, 404, 'NotFound')
      try {
        const next = applyPatch(found, operations)
        if (Object.values(next.data).join('').length > largest) refuse('PATCH', path, 422, 'Invalid')
        configMaps.set(name, written(next))
      } catch (error) {
        if (error instanceof PatchRefused) refuse('PATCH', path, 422, 'Invalid')
        throw error
      }
      if (answers) return configMaps.get(name)
      throw new KubeError('no answer', { kind: 'ambiguous', method: 'PATCH', path })
    },
  }
  return {
    client: client as unknown as KubeClient,
    configMaps,
    /** The names of the ConfigMaps that were patched. */
    patches,
    /** Refuses patches with more than this many keys. Each key has a guard, beside the guard of the whole patch. */
    refuseLonger: (keys: number) => void (most = 1 + 2 * keys),
    /** Refuses ConfigMaps above this size, as the API server does above 1 MiB. */
    refuseLarger: (bytes: number) => void (largest = bytes),
    /** Makes each write be sent twice. */
    throttle: () => void (isThrottled = true),
    /** Carries patches out, and loses their answers. */
    silence: (isSilent: boolean) => void (answers = !isSilent),
  }
}

function entry(uid: string, state: LedgerEntry['state'] = 'open'): LedgerEntry {
  const target = {
    loadBalancer: 'edge',
    target: `web/${uid}@10.0.0.1:80`,
    scope: 'web',
    prior: { state: 'ready' },
    untouched: false,
  }
  return { uid, pod: `pod-${uid}`, targets: [target], state }
}

function ledger(count: number): Ledger {
  const uids = Array.from({ length: count }, (_, index) => `u${index}`)
  const header = { run: 'abc', workloads: [], images: [], startedAt: '2026-01-01T00:00:00Z', chunks: 1 }
  return { header, entries: new Map(uids.map((uid) => [uid, entry(uid)])) }
}

const process = {
  by: 'ci_1',
  epoch: 1,
  resumed: false,
  startedAt: '2026-01-01T00:00:00.000Z',
  endedAt: '2026-01-01T00:01:00.000Z',
  outcome: 'done',
  reason: said('done'),
  window: 1,
  guarantees: [],
  warnings: [],
}
const account = {
  epoch: 1,
  startedAtMs: 0,
  phases: [{ state: 'draining' as const, ms: 7 }],
  effects: [],
  restarts: [],
  out: false,
}
const told = (count: number) => ({
  process,
  pods: new Map(Array.from({ length: count }, (_, index) => [`u${index}`, account])),
})

async function stored(client: KubeClient): Promise<Ledger> {
  const [found, ...more] = await listLedgers(client, NAMESPACE)
  if (found?.kind !== 'read' || more.length > 0) throw new Error(`not one ledger that can be read: ${JSON.stringify(found)}`)
  return found.ledger
}

describe('a ledger that somebody deletes while its run goes on', () => {
  it.each([
    ['the whole of a small one', 3, 'sluice-run-abc'],
    ['the first part', ENTRIES_PER_CHUNK + 3, 'sluice-run-abc'],
    ['the second part', ENTRIES_PER_CHUNK + 3, 'sluice-run-abc-1'],
  ])('is written anew with the next entry: %s', async (_, count, deleted) => {
    const { client, configMaps } = server()
    const store = await createLedger(ledger(count), { client, namespace: NAMESPACE })
    configMaps.delete(deleted)
    await store.put(entry('u1', 'abandoned'))
    await store.put(entry(`u${count - 1}`, 'closed'))
    await store.put(entry('late'))

    const { header, entries } = await stored(client)
    expect(header.chunks).toBe(count > ENTRIES_PER_CHUNK ? 2 : 1)
    expect(entries.size).toBe(count + 1)
    expect(entries.get('u0')).toEqual(entry('u0'))
    expect(entries.get('u1')?.state).toBe('abandoned')
    expect(entries.get(`u${count - 1}`)?.state).toBe('closed')
    expect(configMaps.get(deleted)?.metadata.labels).toEqual({ 'sluice.dev/ledger': 'abc' })
  })

  it('is finished all the same, also by the owner that goes on with it', async () => {
    const { client, configMaps } = server()
    await createLedger(ledger(2), { client, namespace: NAMESPACE })
    const [found] = await listLedgers(client, NAMESPACE)
    const store = resumeLedger(found as Extract<typeof found, { kind: 'read' }>, { client, namespace: NAMESPACE })
    configMaps.clear()
    await store.conclude({ finished: { at: '2026-01-01T00:01:00Z' } })
    const { header, entries } = await stored(client)
    expect(header.finishedAt).toBe('2026-01-01T00:01:00Z')
    expect(entries.size).toBe(2)
  })
})

it('is finished only where that is written', async () => {
  const { client } = server()
  const store = await createLedger(ledger(2), { client, namespace: NAMESPACE })
  const patch = client.patch
  client.patch = () => Promise.reject(new KubeError('500', { kind: 'ambiguous', method: 'PATCH', path: '', status: 500 }))
  await expect(store.conclude({ finished: { at: 'now', aborted: { by: 'me', left: [] } } })).rejects.toThrow('500')
  expect(store.ledger.header).not.toHaveProperty('finishedAt')
  client.patch = patch
  await store.conclude({ finished: { at: 'now' } })
  expect([store.ledger.header.finishedAt, (await stored(client)).header.finishedAt]).toEqual(['now', 'now'])
})

// One ConfigMap was written and the next one was not. The entry is written again in any case.
it.each([
  ['carried out, the answer lost', true],
  ['not carried out', false],
])('that could not be closed is closed by a second try, and tells nothing twice: the first was %s', async (_, isCarriedOut) => {
  const { client, silence } = server()
  const store = await createLedger(ledger(ENTRIES_PER_CHUNK + 3), { client, namespace: NAMESPACE })
  const { patch } = client
  client.patch = (path, ...rest) => {
    if (path.endsWith('-1')) return patch(path, ...rest)
    silence(true)
    return isCarriedOut
      ? patch(path, ...rest)
      : Promise.reject(new KubeError('refused', { kind: 'definite', method: 'PATCH', path }))
  }
  const ending = { finished: { at: 'now' }, told: told(ENTRIES_PER_CHUNK + 3) }
  await expect(store.conclude(ending)).rejects.toThrow(isCarriedOut ? 'no answer' : 'refused')
  client.patch = patch
  silence(false)
  await store.conclude(ending)
  const { header, entries } = await stored(client)
  expect(header.finishedAt).toBe('now')
  expect(header.accounts).toHaveLength(1)
  expect(header.accounts?.[0]).not.toHaveProperty('withoutRoom')
  expect(new Set(Array.from(entries.values(), ({ accounts }) => accounts?.length))).toEqual(new Set([1]))
})

it('that is refused the rights for a moment is not closed without what is told', async () => {
  const { client } = server()
  const store = await createLedger(ledger(2), { client, namespace: NAMESPACE })
  const { patch } = client
  const refused = new KubeError('x is forbidden: User "ci" cannot patch resource "configmaps"', {
    kind: 'definite',
    method: 'PATCH',
    path: '',
    status: 403,
  })
  client.patch = () => Promise.reject(refused)
  await expect(store.conclude({ finished: { at: 'now' }, told: told(2) })).rejects.toBe(refused)
  client.patch = patch
  await store.conclude({ finished: { at: 'now' }, told: told(2) })
  const { header, entries } = await stored(client)
  expect(header.accounts?.[0]).not.toHaveProperty('withoutRoom')
  expect(Array.from(entries.values(), ({ accounts }) => accounts?.length)).toEqual([1, 1])
})

describe('a new one', () => {
  const HEADER = '/data/header'

  /** `meanwhile` runs once the ConfigMaps exist, before the header is written. */
  function begun(meanwhile: (configMap: ConfigMap) => void) {
    const { client, configMaps, patches, silence } = server()
    const patch: KubeClient['patch'] = (path, operations, options) => {
      if (patches.length === 0) meanwhile(configMaps.get('sluice-run-abc')!)
      return client.patch(path, operations, options)
    }
    return { making: createLedger(ledger(2), { client: { ...client, patch }, namespace: NAMESPACE }), client, patches, silence }
  }

  it('is none until its header is there, which comes in a write that tests the fence', async () => {
    let before: ReadLedger[] | undefined
    const { client } = server()
    const patch: KubeClient['patch'] = async (path, operations, options) => {
      before = await listLedgers(client, NAMESPACE)
      expect(operations).toMatchObject([
        { op: 'test', path: '/data/fence' },
        { op: 'test', path: HEADER },
        { op: 'add', path: HEADER },
      ])
      return client.patch(path, operations, options)
    }
    await createLedger(ledger(2), { client: { ...client, patch }, namespace: NAMESPACE })
    expect(before).toEqual([])
    expect((await stored(client)).entries.size).toBe(2)
  })

  it('is made all the same by who is at work with it where another has fenced it', async () => {
    const { making, client } = begun((one) => (one.data['fence'] = 'another'))
    await (await making).put(entry('u1', 'closed'))
    expect((await stored(client)).entries.get('u1')?.state).toBe('closed')
  })

  it('is made where the answer to its header is lost', async () => {
    const { making, silence, client } = begun(() => silence(true))
    // The second write is refused, since the first has arrived. A read tells that.
    await expect(making).resolves.toBeDefined()
    expect((await stored(client)).header.finishedAt).toBeUndefined()
  })
})

it('is written by two calls at once that both meet the fence of another', async () => {
  const { client, configMaps } = server()
  const store = await createLedger(ledger(3), { client, namespace: NAMESPACE })
  await store.conclude({ told: { pods: told(3).pods } })
  configMaps.get('sluice-run-abc')!.data['fence'] = 'another'
  await Promise.all([store.put(entry('u0', 'restore')), store.put(entry('u1', 'restore'))])
  const { entries } = await stored(client)
  expect(['u0', 'u1'].map((uid) => entries.get(uid)?.state)).toEqual(['restore', 'restore'])
  expect([...entries.values()].every(({ accounts }) => accounts?.length === 1)).toBe(true)
})

it('is not opened anew by who had read it before the run came to its end', async () => {
  const { client } = server()
  const store = await createLedger(ledger(2), { client, namespace: NAMESPACE })
  const [found] = await listLedgers(client, NAMESPACE)
  const other = resumeLedger(found as Extract<typeof found, { kind: 'read' }>, { client, namespace: NAMESPACE })
  await store.conclude({ finished: { at: 'now' } })
  await expect(other.conclude({ told: told(2) })).rejects.toMatchObject({ reason: { code: 'record-changed', run: 'abc' } })
  expect((await stored(client)).header.finishedAt).toBe('now')
})

it('is not ended by who has lost the Lease meanwhile', async () => {
  const { client, patches } = server()
  const store = await createLedger(ledger(2), { client, namespace: NAMESPACE })
  const before = patches.length
  const lost = (): void => {
    throw new Error('taken')
  }
  await expect(store.conclude({ finished: { at: 'now' } }, lost)).rejects.toThrow('taken')
  expect([patches.length, store.ledger.header.finishedAt]).toEqual([before, undefined])
})

it('is not written by who has lost the Lease while the server asked to wait', async () => {
  const { client, throttle } = server()
  const store = await createLedger(ledger(2), { client, namespace: NAMESPACE })
  throttle()
  const lost = (): void => {
    throw new Error('taken')
  }
  await expect(store.put(entry('u1', 'closed'), lost)).rejects.toThrow('taken')
  await expect(store.amend({ workloads: [{ ...STATEFUL_SET, name: 'web', uid: 'u' }] }, lost)).rejects.toThrow('taken')
  expect((await stored(client)).entries.get('u1')).toEqual(entry('u1'))
  await store.put(entry('u1', 'closed'), () => {})
  expect((await stored(client)).entries.get('u1')?.state).toBe('closed')
})

it('is not written in its next part, nor once more after a refusal, by who has lost the Lease since the one before', async () => {
  const { client, configMaps, refuseLarger } = server()
  let isLost = false
  const assertOwned = (): void => {
    if (isLost) throw new Error('taken')
  }
  const { create, patch } = client
  client.create = async (...call) => create(...call).finally(() => (isLost = true))
  await expect(createLedger(ledger(ENTRIES_PER_CHUNK + 3), { client, namespace: NAMESPACE }, assertOwned)).rejects.toThrow(
    'taken',
  )
  expect([...configMaps.keys()]).toEqual(['sluice-run-abc-1'])

  client.create = create
  configMaps.clear()
  isLost = false
  const store = await createLedger(ledger(2), { client, namespace: NAMESPACE }, assertOwned)
  await store.conclude({ told: told(1) }, assertOwned)
  refuseLarger(Object.values(configMaps.get('sluice-run-abc')!.data).join('').length)
  client.patch = async (...call) => patch(...call).finally(() => (isLost = true))
  await expect(store.put(entry('u1', 'abandoned'), assertOwned)).rejects.toThrow('taken')
  await expect(store.put(entry('u1', 'closed'), assertOwned)).rejects.toThrow('taken')
  expect((await stored(client)).entries.get('u1')).toEqual(entry('u1'))
})

const TERM = { lease: 'lease-1', epoch: 5 }

it('says of which pods nothing was drained when a process came to its end, until the run begins with them', async () => {
  const { client } = server()
  const store = await createLedger(ledger(3), { client, namespace: NAMESPACE })
  await store.put(entry('u2', 'closed'))
  await store.conclude({
    told: {
      ...told(1),
      idle: new Set(['u1', 'u2']),
      voidBelow: new Map([
        ['u1', TERM],
        ['u2', TERM],
      ]),
    },
  })
  const [found] = await listLedgers(client, NAMESPACE)
  const again = resumeLedger(found as Extract<typeof found, { kind: 'read' }>, { client, namespace: NAMESPACE })
  expect(Array.from(again.ledger.entries.values(), ({ uid, idle, voidBelow }) => [uid, idle, voidBelow])).toEqual([
    ['u0', undefined, undefined],
    ['u1', true, TERM],
    ['u2', undefined, undefined],
  ])
  // A drain intent that has come late stays late, whatever becomes of the pod.
  await again.put(entry('u1'))
  expect((await stored(client)).entries.get('u1')).toEqual({ ...entry('u1'), voidBelow: TERM })
  await again.put({ ...entry('u1'), voidBelow: { ...TERM, epoch: 6 } })
  expect((await stored(client)).entries.get('u1')).toEqual({ ...entry('u1'), voidBelow: { ...TERM, epoch: 6 } })
})

it('keeps what was asked for last, also where an earlier write of the same entry comes after it', async () => {
  const { client } = server()
  const store = await createLedger(ledger(2), { client, namespace: NAMESPACE })
  const { patch } = client
  const sent = Promise.withResolvers<void>()
  const answered = Promise.withResolvers<void>()
  client.patch = (...first) => {
    client.patch = (...second) => {
      client.patch = patch
      return patch(...second).finally(() => answered.promise)
    }
    return sent.promise.then(() => patch(...first))
  }
  const early = store.put({ ...entry('u1'), address: '10.0.0.8' })
  await new Promise(setImmediate)
  const late = store.put({ ...entry('u1'), address: '10.0.0.9' })
  await new Promise(setImmediate)
  sent.resolve()
  await expect(early).rejects.toThrow('anew')
  answered.resolve()
  await late
  expect([store.ledger, await stored(client)].map(({ entries }) => entries.get('u1')?.address)).toEqual(['10.0.0.9', '10.0.0.9'])
})

it('is not opened anew by what a process tells at its end, where an entry is being written, or nobody knows whether it was', async () => {
  const { client, silence } = server()
  const store = await createLedger(ledger(3), { client, namespace: NAMESPACE })
  silence(true)
  await expect(store.put(entry('u0', 'closed'))).rejects.toThrow('no answer')
  silence(false)
  const { patch } = client
  const answered = Promise.withResolvers<void>()
  client.patch = (...call) => {
    client.patch = patch
    return patch(...call).finally(() => answered.promise)
  }
  const late = store.put(entry('u1', 'closed'))
  await new Promise(setImmediate)
  await store.conclude({ told: told(3) })
  answered.resolve()
  await late
  const { entries } = await stored(client)
  expect(['u0', 'u1', 'u2'].map((uid) => entries.get(uid)?.state)).toEqual(['closed', 'closed', 'open'])
  expect(entries.get('u2')?.accounts).toHaveLength(1)
})

it('is written once more where it is not known what stands there, though it is the same that was known before', async () => {
  const { client, silence } = server()
  const store = await createLedger(ledger(2), { client, namespace: NAMESPACE })
  silence(true)
  await expect(store.put({ ...entry('u1'), address: '10.0.0.8' })).rejects.toThrow('no answer')
  silence(false)
  await store.put(entry('u1'))
  expect((await stored(client)).entries.get('u1')).toEqual(entry('u1'))
})

it('says what the templates had also where that is known later, and is not opened anew by it', async () => {
  const { client, patches } = server()
  const workloads = [
    {
      ...STATEFUL_SET,
      name: 'web',
      uid: 'u',
      templates: [{ of: { ...STATEFUL_SET, name: 'web' }, images: [{ container: 'app', image: 'app:v1' }] }],
    },
  ]
  const store = await createLedger(ledger(2), { client, namespace: NAMESPACE })
  const [found] = await listLedgers(client, NAMESPACE)
  const stalled = resumeLedger(found as Extract<typeof found, { kind: 'read' }>, { client, namespace: NAMESPACE })
  const before = patches.length
  await store.amend({ workloads }, () => {})
  await store.amend({ workloads }, () => {})
  expect([patches.length, store.ledger.header.workloads]).toEqual([before + 1, workloads])
  await store.conclude({ finished: { at: 'now' } })
  await expect(stalled.amend({ workloads: [] }, () => {})).resolves.toBeUndefined()
  await expect(stalled.amend({ workloads: [{ ...STATEFUL_SET, name: 'web', uid: 'u' }] }, () => {})).rejects.toMatchObject({
    reason: { code: 'record-changed', run: 'abc' },
  })
  expect((await stored(client)).header).toMatchObject({ finishedAt: 'now', workloads })
})

it('is not written over by an owner that has lost the Lease', async () => {
  const { client } = server()
  const early = await createLedger(ledger(1), { client, namespace: NAMESPACE })
  const [found] = await listLedgers(client, NAMESPACE)
  const late = resumeLedger(found as Extract<typeof found, { kind: 'read' }>, { client, namespace: NAMESPACE })
  await late.put(entry('u0', 'closed'))
  const lost = (): never => {
    throw new Error('the Lease is not held')
  }
  await expect(early.put(entry('u0', 'restore'), lost)).rejects.toThrow('the Lease is not held')
  expect((await stored(client)).entries.get('u0')?.state).toBe('closed')
  // Control: an edit by a person is overwritten.
  await early.put(entry('u0', 'restore'), () => {})
  expect((await stored(client)).entries.get('u0')?.state).toBe('restore')
})

describe('what a process tells at its end', () => {
  const finished = { at: '2026-01-01T00:01:00Z' }

  it.each([
    ['one write for a run of few pods', 3, 1],
    ['one for each ConfigMap', ENTRIES_PER_CHUNK + 3, 2],
  ])('is kept with the end of the run: %s', async (_, count, writes) => {
    const { client, patches } = server()
    const store = await createLedger(ledger(count), { client, namespace: NAMESPACE })
    const before = patches.length
    await store.conclude({ finished, told: told(count) })
    expect(patches).toHaveLength(before + writes)
    // The header is written last, since it closes the whole ledger.
    expect(patches.at(-1)).toBe('sluice-run-abc')
    const { header, entries } = await stored(client)
    expect(header.finishedAt).toBe(finished.at)
    expect(header.accounts).toHaveLength(1)
    expect([...entries.values()].every(({ accounts }) => accounts?.length === 1)).toBe(true)
  })

  it('is kept of a run that stays open too, and by whoever writes an entry anew', async () => {
    const { client } = server()
    const store = await createLedger(ledger(2), { client, namespace: NAMESPACE })
    await store.conclude({ told: told(2) })
    await store.put(entry('u1', 'abandoned'))
    const { header, entries } = await stored(client)
    expect(header.finishedAt).toBeUndefined()
    expect(entries.get('u1')).toMatchObject({ state: 'abandoned', accounts: [expect.anything()] })
  })

  describe('makes room in a full ConfigMap', () => {
    async function full() {
      const { client, configMaps, refuseLarger } = server()
      const store = await createLedger(ledger(3), { client, namespace: NAMESPACE })
      await store.conclude({ told: told(3) })
      refuseLarger(Object.values(configMaps.get('sluice-run-abc')!.data).join('').length + 10)
      return { client, store }
    }

    it('for a pod that is new to it', async () => {
      const { client, store } = await full()
      await store.put(entry('u7'))
      const { entries } = await stored(client)
      expect([...entries.values()]).toEqual([entry('u0'), entry('u1'), entry('u2'), entry('u7')])
      expect(store.ledger.entries).toEqual(entries)
      await store.put(entry('u1', 'closed'))
      expect((await stored(client)).entries.get('u1')).toEqual(entry('u1', 'closed'))
    })

    it('and not over what another pod’s entry has come to say meanwhile', async () => {
      const { client, store } = await full()
      const patch = client.patch
      const answered = Promise.withResolvers<void>()
      let closing: Promise<void> | undefined
      client.patch = async (path, operations) => {
        if (operations.length > 2) {
          closing ??= store.put(entry('u1', 'closed'))
          // Lets its own write leave first.
          await Promise.resolve()
        }
        const answer = await patch(path, operations)
        await answered.promise
        return answer
      }
      await expect(store.put(entry('u7'))).rejects.toMatchObject({ status: 422 })
      answered.resolve()
      await closing
      await store.put(entry('u7'))
      const { entries } = await stored(client)
      expect([entries.get('u1')?.state, entries.get('u7')?.state]).toEqual(['closed', 'open'])
    })

    it('not for a write that was long on its way, and is refused since it was made once more', async () => {
      const { client } = server()
      const store = await createLedger(ledger(3), { client, namespace: NAMESPACE })
      const patch = client.patch
      const sent = Promise.withResolvers<void>()
      client.patch = (path, operations) => {
        client.patch = patch
        return sent.promise.then(() => patch(path, operations))
      }
      const late = store.put(entry('u7'))
      await store.put(entry('u7'))
      await store.conclude({ told: told(3) })
      sent.resolve()
      await expect(late).rejects.toMatchObject({ status: 422 })
      expect((await stored(client)).entries.get('u1')).toMatchObject({ accounts: [expect.anything()] })
    })

    it('control: where there is nothing to give up, the refusal is told', async () => {
      const { client, refuseLarger } = server()
      const store = await createLedger(ledger(3), { client, namespace: NAMESPACE })
      refuseLarger(10)
      await expect(store.put(entry('u7'))).rejects.toMatchObject({ status: 422 })
    })
  })

  it('is given up where the API server refuses it, and the run is finished all the same', async () => {
    const { client, refuseLonger } = server()
    const store = await createLedger(ledger(2), { client, namespace: NAMESPACE })
    refuseLonger(1)
    await store.conclude({ finished, told: told(2) })
    const { header, entries } = await stored(client)
    expect(header.finishedAt).toBe(finished.at)
    expect(entries.get('u1')).toEqual(entry('u1'))
    expect(header.accounts).toEqual([expect.objectContaining({ withoutRoom: 2 })])
  })

  const many = 2_400
  const broken: ProcessAccount = {
    ...process,
    reason: {
      code: 'pods',
      pods: Array.from(ledger(many).entries.values(), ({ uid, pod }) => ({ uid, pod, reason: said('it crashed'.repeat(9)) })),
    },
    warnings: Array.from({ length: 50 }, () => ({ reason: said('ö'.repeat(9_000)) })),
  }
  const resumed = async (client: KubeClient) => {
    const [found] = await listLedgers(client, NAMESPACE)
    return resumeLedger(found as PlacedLedger, { client, namespace: NAMESPACE })
  }

  it('has room for eight processes of a run whose pods have all failed, in 1 MiB', async () => {
    const { client, refuseLarger } = server()
    await createLedger(ledger(many), { client, namespace: NAMESPACE })
    refuseLarger(2 ** 20)
    const left = Array.from({ length: many }, () => broken.reason)
    for (let epoch = 1; epoch <= 8; epoch++)
      await (
        await resumed(client)
      ).conclude({
        told: { ...told(9), process: { ...broken, epoch } },
        ...(epoch === 8 && { finished: { at: 'then', aborted: { by: 'ann', left } } }),
      })
    const { header, entries } = await stored(client)
    expect(header).toMatchObject({ finishedAt: 'then', aborted: { by: 'ann', more: many - 20 } })
    expect(header.accounts?.map((value) => readProcessAccount(value)?.epoch)).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
    expect(readProcessAccount(header.accounts?.[7])).toMatchObject({ reason: { code: 'pods', more: many - 20 } })
    expect(Buffer.byteLength(JSON.stringify(header))).toBeLessThan(200_000)
    expect(entries.get('u8')?.accounts).toHaveLength(3)
  })

  const sizeOf = (configMaps: Map<string, ConfigMap>): number =>
    Object.values(configMaps.get('sluice-run-abc')!.data).join('').length

  it('that has no room beside those before it is left out, counted as lost, and the run is finished', async () => {
    const { client, configMaps, refuseLarger } = server()
    await createLedger(ledger(3), { client, namespace: NAMESPACE })
    await (await resumed(client)).conclude({ told: { ...told(3), process: { ...process, epoch: 1 } } })
    refuseLarger(sizeOf(configMaps) + 100)
    const store = await resumed(client)
    await store.conclude({ finished, told: { process: { ...process, epoch: 2 }, pods: new Map() } })
    const { header, entries } = await stored(client)
    expect(header.finishedAt).toBe(finished.at)
    expect(header.accounts).toEqual([expect.objectContaining({ epoch: 1, lost: 1 })])
    expect(entries.get('u1')?.accounts).toHaveLength(1)
    expect(store.ledger.header).toEqual(header)
  })

  it('where there is no room for any, not even those before it, none is left', async () => {
    const { client, configMaps, refuseLarger } = server()
    await createLedger(ledger(3), { client, namespace: NAMESPACE })
    const bare = sizeOf(configMaps)
    await (await resumed(client)).conclude({ told: told(3) })
    // An older sluice may have filled the ledger.
    refuseLarger(bare + 100)
    await (await resumed(client)).conclude({ finished, told: told(3) })
    const { header, entries } = await stored(client)
    expect(header.finishedAt).toBe(finished.at)
    expect(header).not.toHaveProperty('accounts')
    expect(entries.get('u1')).toEqual(entry('u1'))
  })

  it('says of how many pods there was no room for it, also where that was given up before', async () => {
    const { client, configMaps, refuseLarger } = server()
    const store = await createLedger(ledger(3), { client, namespace: NAMESPACE })
    await store.conclude({ told: told(3) })
    refuseLarger(Object.values(configMaps.get('sluice-run-abc')!.data).join('').length + 10)
    await store.put(entry('u7'))
    refuseLarger(2 ** 20)
    await store.conclude({ finished, told: told(1) })
    const { header, entries } = await stored(client)
    expect(header.accounts).toEqual([
      expect.not.objectContaining({ withoutRoom: expect.anything() }),
      expect.objectContaining({ withoutRoom: 3 }),
    ])
    expect(entries.get('u0')?.accounts).toHaveLength(1)
  })

  it('says so of those that did not fit into their ConfigMap', async () => {
    const { client } = server()
    const count = ENTRIES_PER_CHUNK
    const store = await createLedger(ledger(count), { client, namespace: NAMESPACE })
    const long = {
      ...account,
      reason: said('ö'.repeat(300)),
      advice: [{ code: 'point-entries-at' as const, address: 'ö'.repeat(900) }],
    }
    await store.conclude({
      finished,
      told: { process, pods: new Map(Array.from(told(count).pods.keys(), (uid) => [uid, long])) },
    })
    const { header, entries } = await stored(client)
    const untold = [...entries.values()].filter(({ accounts }) => accounts === undefined).length
    expect(untold).toBeGreaterThan(0)
    expect(header.accounts).toEqual([expect.objectContaining({ withoutRoom: untold })])
  })
})

describe('what stands there is not overwritten by what was sent before', () => {
  it('an owner whose last write comes late does not open anew what the next one has finished', async () => {
    const { client } = server()
    const options = { client, namespace: NAMESPACE }
    await createLedger(ledger(2), options)
    const read = async () => (await listLedgers(client, NAMESPACE))[0] as Extract<ReadLedger, { kind: 'read' }>
    const underWay: (() => Promise<unknown>)[] = []
    const slow = {
      ...client,
      patch: async (...call: Parameters<KubeClient['patch']>) => void underWay.push(() => client.patch(...call)),
    }
    const late = resumeLedger(await read(), { ...options, client: slow as KubeClient })
    await late.put(entry('u1', 'abandoned'))
    await late.conclude({ told: told(0) })
    const next = resumeLedger(await read(), options)
    await next.put(entry('u1', 'closed'))
    await next.conclude({ finished: { at: '2026-01-01T00:01:00Z' } })
    for (const arrive of underWay) await expect(arrive()).rejects.toMatchObject({ status: 422 })
    expect(underWay).toHaveLength(2)
    const { header, entries } = await stored(client)
    expect([header.finishedAt, entries.get('u1')?.state]).toEqual(['2026-01-01T00:01:00Z', 'closed'])
  })

  it('nor one that was stopped right before it, and reads what stands there', async () => {
    const { client, configMaps } = server()
    await createLedger(ledger(1), { client, namespace: NAMESPACE })
    const owner = async () => {
      const [found] = await listLedgers(client, NAMESPACE)
      if (found?.kind !== 'read') throw new Error('not read')
      return resumeLedger(found, { client, namespace: NAMESPACE })
    }
    const [stopped, next] = [await owner(), await owner()]
    await next.conclude({ finished: { at: '2026-01-01T00:01:00Z' } })
    const lost = (): never => {
      throw new Error('another has the Lease')
    }
    await expect(stopped.conclude({ told: told(0) }, lost)).rejects.toThrow('another has the Lease')
    expect((await stored(client)).header.finishedAt).toBe('2026-01-01T00:01:00Z')
    // A removed ledger is not made again either.
    configMaps.clear()
    await expect(stopped.put(entry('u0', 'closed'), lost)).rejects.toThrow('another has the Lease')
    expect(configMaps.size).toBe(0)
  })

  it.each([true, false])('nor where the next one has written nothing, once it has fenced it (%s)', async (isFenced) => {
    const { client } = server()
    const options = { client, namespace: NAMESPACE }
    await createLedger(ledger(ENTRIES_PER_CHUNK + 1), options)
    const read = async () => (await listLedgers(client, NAMESPACE))[0] as PlacedLedger
    const underWay: (() => Promise<unknown>)[] = []
    const slow = {
      ...client,
      patch: async (...call: Parameters<KubeClient['patch']>) => void underWay.push(() => client.patch(...call)),
    }
    await resumeLedger(await read(), { ...options, client: slow as KubeClient }).conclude({
      finished: { at: 'then' },
      told: {
        ...told(0),
        idle: new Set(['u1', `u${ENTRIES_PER_CHUNK}`]),
      },
    })
    const fenced = isFenced ? await fenceLedger(await read(), 'next', options, () => {}) : await read()
    const answers: unknown[] = []
    for (const arrive of underWay)
      answers.push(
        await arrive().then(
          () => 200,
          ({ status }: KubeError) => status,
        ),
      )
    expect(answers).toEqual(isFenced ? [422, 422] : [200, 200])
    const { header, entries } = await stored(client)
    const idle = [...entries.values()].filter((one) => one.idle).length
    expect([header.finishedAt, idle]).toEqual(isFenced ? [undefined, 0] : ['then', 2])
    // The next owner itself goes on.
    if (isFenced) await resumeLedger(fenced!, options).conclude({ finished: { at: 'now' } })
    expect((await stored(client)).header.finishedAt).toBe(isFenced ? 'now' : 'then')
  })

  it('beside another owner, who has another of its workloads, the one whose fence is not the last goes on', async () => {
    const { client } = server()
    const options = { client, namespace: NAMESPACE }
    await createLedger(ledger(2), options)
    const read = async () => (await listLedgers(client, NAMESPACE))[0] as PlacedLedger
    const [one, other] = [
      await fenceLedger(await read(), 'one', options, () => {}),
      await fenceLedger(await read(), 'other', options, () => {}),
    ]
    const [first, second] = [resumeLedger(one!, options), resumeLedger(other!, options)]
    const workloads = [{ ...STATEFUL_SET, name: 'web', uid: 'u' }]
    await first.amend({ workloads }, () => {})
    await first.put(entry('u0', 'closed'))
    await second.put(entry('u1', 'closed'))
    await first.conclude({ finished: { at: 'now' } })
    const { header, entries } = await stored(client)
    expect([header.workloads, header.finishedAt]).toEqual([workloads, 'now'])
    expect([...entries.values()].map(({ state }) => state)).toEqual(['closed', 'closed'])
  })

  it('a write of its own whose answer was lost is written over', async () => {
    const { client, silence } = server()
    const store = await createLedger(ledger(2), { client, namespace: NAMESPACE })
    silence(true)
    await expect(store.put(entry('u1', 'restore'))).rejects.toMatchObject({ kind: 'ambiguous' })
    silence(false)
    await store.put(entry('u1', 'closed'))
    expect((await stored(client)).entries.get('u1')).toEqual(entry('u1', 'closed'))
  })

  it('a pod that is new to it is added', async () => {
    const { client } = server()
    const store = await createLedger(ledger(2), { client, namespace: NAMESPACE })
    await store.put(entry('u7'))
    expect((await stored(client)).entries.get('u7')).toEqual(entry('u7'))
  })
})
