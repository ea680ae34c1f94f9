import { describe, expect, test } from 'vitest'
import type { PodView } from '../../src/pods/glossary.ts'
import { testPod } from '../../src/pods/testing/raw-pod.ts'
import type { SettleInput, StoreInput } from './ports.ts'
import type { Drive } from './testing/drive.ts'
import { createDrive, DEADLINES, DELAYS } from './testing/drive.ts'
import { PODS } from './testing/explore.ts'
import { IN, OUT, PUT_BACK, recorded, REJECTED, said, UNKNOWN, UNREAD } from './testing/recorded.ts'
import { TARGET, V1, V2 } from './testing/world.ts'

const [PROXY] = testPod({
  containers: [
    {
      name: 'proxy',
      image: 'registry/proxy:v1',
      status: { id: 'p1', imageId: 'sha256:p', image: 'registry/proxy:v1', running: true, ready: true },
    },
  ],
}).containers as [PodView['containers'][number]]

/* An earlier owner, or the end of the pod, interferes with an upgrade that is under way. */

test('an earlier owner’s images patch lands while this one writes its own: the restart is judged by that one’s baseline', async () => {
  const drive = createDrive({ stored: recorded('drain', { epoch: 1 }) })
  await drive.stored()
  await drive.answer(OUT)
  await drive.pass(2_000)
  await drive.answer(OUT)
  expect(drive.state()).toBe('patching.writing')
  await drive.answer(REJECTED)
  await drive.answer({ kind: 'read', seen: { pod: PODS.asked, stored: recorded('patched', { epoch: 1 }) } })
  expect(drive.state()).toBe('claiming.writing')
  await drive.stored()
  expect(drive.state()).toBe('restarting.confirming')
  await drive.answer(OUT)
  expect(drive.actor.getSnapshot().context.record).toMatchObject({ epoch: 2, step: 'patched', generation: 2 })
  drive.send({ type: 'observed', pod: PODS.witness, stored: recorded('patched') })
  drive.send({ type: 'observed', pod: PODS.ready, stored: recorded('patched') })
  expect(drive.state()).toBe('warming.steady')
})

describe('an earlier run has patched it, and this one asks for other images', () => {
  const V3 = 'registry/app:v3'
  const [app] = PODS.ready.containers as [PodView['containers'][number]]
  const PATCHED: PodView = { ...PODS.ready, generation: 3, containers: [{ ...app, image: V3 }] }

  async function patching(): Promise<Drive> {
    const drive = createDrive({
      stored: recorded('patched', { epoch: 1 }),
      pod: PODS.ready,
      wanted: [{ container: 'app', image: V3 }],
    })
    await drive.stored()
    await drive.answer(OUT)
    await drive.pass(DELAYS.settle)
    await drive.answer(OUT)
    expect(drive.state()).toBe('patching.writing')
    return drive
  }

  test.each([
    { name: 'refused', answer: REJECTED },
    { name: 'lost', answer: UNKNOWN },
  ])('its patch is $name: written again, and the claimed record not taken for it', async ({ answer }) => {
    const drive = await patching()
    await drive.answer(answer)
    await drive.answer({ kind: 'read', seen: { pod: PODS.ready, stored: recorded('patched') } })
    expect(drive.state()).toBe('patching.pausing')
    await drive.pass(DELAYS.retry)
    await drive.answer(OUT)
    expect(drive.state()).toBe('patching.writing')
    await drive.stored(PATCHED)
    expect(drive.state()).toBe('restarting.watching.resting')
  })

  test('a reload while it is waited for until it has settled: drained again at once, since it may be restarting', async () => {
    const drive = createDrive({
      stored: recorded('patched', { epoch: 1 }),
      pod: PODS.started,
      wanted: [{ container: 'app', image: V3 }],
    })
    await drive.stored()
    await drive.answer(OUT)
    expect(drive.state()).toBe('emptying.settling')
    drive.send({ type: 'reloaded' })
    expect([drive.state(), drive.calling()]).toEqual(['emptying.redraining', 'effect'])
    await drive.answer({ kind: 'applied' })
    expect(drive.state()).toBe('emptying.settling')
  })

  test.each(['draining.reading', 'emptying.reading'])('a reload while another is still asked (%s): the same', async (state) => {
    const drive = createDrive({
      stored: recorded('patched', { epoch: 1 }),
      pod: PODS.started,
      wanted: [{ container: 'app', image: V3 }],
    })
    await drive.stored()
    if (state === 'emptying.reading') {
      await drive.answer(OUT)
      await drive.pass(DELAYS.settle)
    }
    expect([drive.state(), drive.calling()]).toEqual([state, 'inspect'])
    drive.send({ type: 'reloaded' })
    expect(drive.calling()).toBe('effect')
    await drive.answer({ kind: 'applied' })
    expect(drive.state()).toBe('emptying.settling')
  })

  test.each(['draining.calling', 'emptying.redraining'])(
    'a reload while it is drained again (%s): read once more',
    async (state) => {
      const drive = createDrive({
        stored: recorded('patched', { epoch: 1 }),
        pod: PODS.started,
        wanted: [{ container: 'app', image: V3 }],
      })
      await drive.stored()
      await drive.answer(state === 'draining.calling' ? IN : OUT)
      if (state === 'emptying.redraining') drive.send({ type: 'reloaded' })
      expect([drive.state(), drive.calling()]).toEqual([state, 'effect'])
      expect(drive.actor.getSnapshot().hasTag('busy')).toBe(true)
      drive.send({ type: 'reloaded' })
      await drive.answer({ kind: 'applied' })
      expect(drive.calling()).toBe('inspect')
      await drive.answer(OUT)
      expect(drive.state()).toBe('emptying.settling')
    },
  )

  test('the answer to its patch is lost, and it is stored: gone on with', async () => {
    const drive = await patching()
    const { record } = drive.input() as StoreInput
    await drive.answer(UNKNOWN)
    await drive.answer({ kind: 'read', seen: { pod: PATCHED, stored: { kind: 'read', journal: record } } })
    expect(drive.state()).toBe('restarting.watching.resting')
  })
})

test('an earlier run has patched another of its containers a moment ago: that one has to restart too', async () => {
  const PROXY_V2 = 'registry/proxy:v2'
  const drive = createDrive({
    stored: recorded('patched', { epoch: 1 }),
    pod: { ...PODS.witness, containers: [...PODS.witness.containers, PROXY] },
    wanted: [{ container: 'proxy', image: PROXY_V2 }],
  })
  await drive.stored()
  await drive.answer(OUT)
  await drive.pass(DELAYS.settle)
  await drive.answer(OUT)
  expect(drive.state()).toBe('patching.writing')
  const { record } = drive.input() as StoreInput
  expect(record.baseline).toMatchObject([
    { name: 'proxy', image: 'registry/proxy:v1', containerId: 'p1' },
    { name: 'app', image: V1, containerId: 'c1' },
  ])
  const proxy = { ...PROXY, image: PROXY_V2 }
  const patched = { ...PODS.witness, generation: 3, containers: [...PODS.witness.containers, proxy] }
  await drive.stored(patched)
  const seen = { ...patched, observedGeneration: 3 }
  const stored = { kind: 'read' as const, journal: record }
  drive.send({ type: 'observed', pod: seen, stored })
  const restarted = { ...proxy, containerId: 'p2', imageId: 'sha256:p2', statusImage: PROXY_V2 }
  drive.send({ type: 'observed', pod: { ...seen, containers: [...PODS.witness.containers, restarted] }, stored })
  expect(drive.state(), 'the pod is ready, and one of two has restarted').toBe('restarting.watching.resting')
  drive.send({ type: 'observed', pod: { ...seen, containers: [...PODS.ready.containers, restarted] }, stored })
  expect(drive.state()).toBe('warming.steady')
})

test.each([
  { name: 'a later epoch', stored: recorded('drain', { epoch: 3 }) },
  { name: 'the same epoch, another run', stored: recorded('drain', { run: 'run-9' }) },
])('$name has written the journal: stopped, whatever was decided before', async ({ stored }) => {
  const drive = createDrive({ stored: recorded('drain') })
  drive.send({ type: 'interrupt' })
  await drive.answer(IN)
  expect(drive.state()).toBe('readmitting.writing')
  await drive.answer(REJECTED)
  await drive.answer({ kind: 'read', seen: { pod: PODS.before, stored } })
  expect(drive.state()).toBe('stopped')
  expect(drive.actor.getSnapshot().context).toMatchObject({
    outcome: 'conflict',
    reason: { code: 'journal-usurped' },
  })
})

test('deleted while its restore is in doubt: nothing is put back for it', async () => {
  const drive = createDrive({ stored: recorded('restore'), pod: PODS.ready })
  drive.send({ type: 'observed', pod: { ...PODS.ready, deleting: true }, stored: recorded('restore') })
  await drive.answer(OUT)
  expect([drive.state(), drive.calling()]).toEqual(['settling.reading', 'inspect'])
})

test('put back after an interrupt, and somebody has patched it meanwhile: it stays out, and says so', async () => {
  const drive = createDrive({ stored: recorded('drain'), pod: PODS.asked })
  drive.send({ type: 'interrupt' })
  await drive.answer(OUT)
  await drive.pass(DELAYS.settle)
  await drive.answer(OUT)
  expect([drive.state(), drive.calling()]).toEqual(['failed', undefined])
  expect(drive.actor.getSnapshot().context).toMatchObject({
    outcome: 'failed',
    reason: { code: 'patched-elsewhere', images: [{ container: 'app', image: V2 }] },
  })
})

test('its images patch has landed, unanswered, and somebody has made the journal unreadable: it is not put back on what ran before', async () => {
  const drive = createDrive({ stored: recorded('drain') })
  await drive.answer(OUT)
  await drive.pass(DELAYS.settle)
  await drive.answer(OUT)
  expect(drive.state()).toBe('patching.writing')
  drive.send({ type: 'interrupt' })
  await drive.answer(UNKNOWN)
  await drive.answer({
    kind: 'read',
    seen: { pod: PODS.asked, stored: { kind: 'unreadable', problem: { code: 'record-not-json' } } },
  })
  // The images may have landed, which cannot be read. The new record keeps them out from now on.
  await drive.stored(PODS.asked)
  expect([drive.state(), drive.calling()]).toEqual(['failed', undefined])
})

test.each([
  { name: 'made unreadable', stored: { kind: 'unreadable', problem: { code: 'record-not-json' } } },
  { name: 'removed', stored: { kind: 'none' } },
] as const)(
  'an earlier run has patched it, its next patch is refused, and its journal $name: it stays out',
  async ({ stored }) => {
    const drive = createDrive({
      stored: recorded('patched'),
      pod: PODS.asked,
      wanted: [{ container: 'app', image: 'registry/app:v3' }],
    })
    await drive.answer(OUT)
    await drive.pass(DELAYS.settle)
    await drive.answer(OUT)
    expect(drive.state()).toBe('patching.writing')
    drive.send({ type: 'interrupt' })
    await drive.answer(REJECTED)
    await drive.answer({ kind: 'read', seen: { pod: PODS.asked, stored } })
    expect([drive.state(), drive.calling()]).toEqual(['failed', undefined])
    expect(drive.actor.getSnapshot().context.reason).toEqual({
      code: 'patched-elsewhere',
      images: [{ container: 'app', image: V2 }],
    })
  },
)

/** Adopted, and drained anew while the drain of the earlier owner may still arrive, then interrupted, and read as out. */
async function interruptedWithLateDrain(): Promise<Drive> {
  const drive = createDrive({ stored: recorded('drain') })
  await drive.answer(IN)
  drive.send({ type: 'start' })
  await drive.answer(IN)
  await drive.answer({ kind: 'applied', lateCall: true })
  await drive.answer(OUT)
  drive.send({ type: 'interrupt' })
  await drive.pass(DELAYS.settle)
  await drive.answer(OUT)
  return drive
}

test('interrupted while an earlier drain may still arrive: put back when that is over', async () => {
  const drive = await interruptedWithLateDrain()
  expect([drive.state(), drive.calling()]).toEqual(['readmitting.waitingOut', undefined])
  await drive.pass(DELAYS.lateArrival)
  expect([drive.state(), (drive.input() as StoreInput).record.step]).toEqual(['readmitting.writing', 'restore'])
})

test('deleted while an earlier drain may still arrive: settled', async () => {
  const drive = await interruptedWithLateDrain()
  drive.send({ type: 'gone' })
  expect(drive.state()).toBe('settling.reading')
})

test('put back in the place of a gone pod, and an earlier restore may still arrive: closed when that is over', async () => {
  const drive = createDrive({ gone: true, targets: [TARGET] })
  await drive.answer(OUT)
  drive.send({ type: 'heir', heir: { pod: PODS.ready, sameAddress: true, isDrained: false, isReady: true }, expected: true })
  expect((drive.input() as SettleInput).settlement).toBe('restore')
  await drive.answer({ kind: 'stored' })
  await drive.answer({ kind: 'applied', lateCall: true })
  await drive.answer({ kind: 'equal' })
  expect([drive.state(), drive.calling()]).toEqual(['settling.restoring.waitingOut', undefined])
  await drive.pass(DELAYS.lateArrival)
  await drive.answer({ kind: 'equal' })
  expect((drive.input() as SettleInput).settlement).toBe('closed')
})

test('gone, and what reads as in rotation may be from before its drain: read again', async () => {
  const drive = createDrive({ gone: true, targets: [TARGET] })
  await drive.answer({ ...IN, old: true })
  expect(drive.state()).toBe('settling.waiting')
  await drive.pass(DELAYS.retry)
  await drive.answer(IN)
  expect((drive.input() as SettleInput).settlement).toBe('closed')
})

test('an earlier owner has closed an attempt that was not known of: looked at anew, and another attempt', async () => {
  const drive = createDrive()
  drive.send({ type: 'start' })
  await drive.answer({ kind: 'taken', targets: [TARGET], address: '10.0.0.1' })
  await drive.answer({ kind: 'stored' })
  await drive.answer(REJECTED)
  await drive.answer({ kind: 'read', seen: { pod: PODS.before, stored: recorded('closed', { epoch: 1 }) } })
  expect([drive.state(), drive.calling()]).toEqual(['checking.inspecting', 'snapshot'])
  await drive.answer({ kind: 'taken', targets: [TARGET], address: '10.0.0.1' })
  await drive.answer({ kind: 'stored' })
  expect((drive.input() as StoreInput).record).toMatchObject({ step: 'drain', attempt: 2 })
})

test('evicted while it restarts: settled, and not waited for', async () => {
  const drive = createDrive({ stored: recorded('patched'), pod: PODS.witness })
  await drive.answer(OUT)
  drive.send({ type: 'observed', pod: { ...PODS.witness, finished: true }, stored: recorded('patched') })
  expect(drive.state()).toBe('settling.reading')
})

test('gone, and sluice has drained nothing for it: closed, and no pod in its place is waited for', async () => {
  const drive = createDrive({ gone: true, targets: [{ ...TARGET, untouched: true }] })
  drive.send({ type: 'heir', heir: { pod: PODS.ready, sameAddress: true, isDrained: false, isReady: true }, expected: true })
  await drive.answer(OUT)
  expect([drive.calling(), (drive.input() as SettleInput).settlement]).toEqual(['settle', 'closed'])
  await drive.answer({ kind: 'stored' })
  expect(drive.actor.getSnapshot().context).toMatchObject({
    outcome: 'settled',
    reason: { code: 'settled-unchanged' },
  })
})

test.each([
  {
    name: 'replaced',
    heir: { heir: { pod: PODS.ready, sameAddress: true, isDrained: false, isReady: true }, expected: true },
    reads: ['in'],
    settlement: 'closed',
  },
  { name: 'gone for good', heir: { heir: null, expected: false }, reads: ['out'], settlement: 'left' },
])('evicted, and $name: what is left of it is not settled anew by every later owner', async ({ heir, reads, settlement }) => {
  const evicted = { ...PODS.before, finished: true }
  const drive = createDrive({ stored: recorded('drain'), pod: evicted })
  for (const state of reads) await drive.answer({ state, inFlight: 0, detail: said(state) })
  drive.send({ type: 'heir', ...heir })
  expect([drive.calling(), (drive.input() as SettleInput).settlement]).toEqual(['settle', settlement])
  await drive.answer({ kind: 'stored' })
  expect([drive.state(), (drive.input() as StoreInput).record.step]).toEqual(['closing.writing', 'closed'])
  await drive.stored()
  expect([drive.state(), drive.actor.getSnapshot().context.outcome]).toEqual(['done', 'settled'])
})

test.each([
  { name: 'going', pod: PODS.deleting },
  { name: 'evicted', pod: { ...PODS.before, finished: true } },
])('$name, and settled by an earlier owner, whose journal is open: closed, and its targets are left alone', async ({ pod }) => {
  const drive = createDrive({ stored: recorded('patched', { epoch: 1 }), pod, settled: true })
  expect(drive.state()).toBe('claiming.writing')
  await drive.stored()
  expect([drive.state(), (drive.input() as StoreInput).record.step]).toEqual(['closing.writing', 'closed'])
  await drive.stored()
  expect([drive.state(), drive.actor.getSnapshot().context.outcome]).toEqual(['done', 'settled'])
})

test('one that was settled and is not at its end is open again', async () => {
  const drive = createDrive({ stored: recorded('drain', { epoch: 1 }), settled: true })
  await drive.stored()
  expect([drive.state(), drive.calling()]).toEqual(['draining.reading', 'inspect'])
})

describe('on its way back to images that were rewritten, and an operator has put back what he had out', () => {
  const rollback = [{ container: 'app', image: V1 }]
  const stored = recorded('patched', { rollback, generation: 3 })
  const rewritten = { ...PODS.back, containers: PODS.back.containers.map((one) => ({ ...one, image: 'mirror/app' })) }
  const RECLAIMED = { ...OUT, reclaimed: PUT_BACK }

  async function settled(given: Parameters<typeof createDrive>[0]) {
    const drive = createDrive(given)
    await drive.answer(OUT)
    await drive.pass(DELAYS.settle)
    expect(drive.state()).toBe('emptying.reading')
    return drive
  }

  test('it is not ready: it gets its former images, which is what helps', async () => {
    const drive = await settled({ stored, pod: { ...rewritten, ready: false } })
    await drive.answer(RECLAIMED)
    expect([drive.state(), drive.calling()]).toEqual(['patching.writing', 'store'])
  })

  test('the same, where the write has to be made again', async () => {
    const pod = { ...rewritten, ready: false }
    const drive = await settled({ stored, pod })
    await drive.answer(RECLAIMED)
    await drive.answer({ kind: 'unknown', reason: said('500') })
    await drive.answer({ kind: 'read', seen: { pod, stored } })
    await drive.pass(DELAYS.retry)
    expect(drive.state()).toBe('patching.confirming')
    await drive.answer(RECLAIMED)
    expect([drive.state(), drive.calling()]).toEqual(['patching.writing', 'store'])
  })

  test('it is ready: a failure, which says why', async () => {
    const drive = await settled({ stored, pod: { ...rewritten, ready: true } })
    await drive.answer(RECLAIMED)
    const { value, context } = drive.actor.getSnapshot()
    const { outcome, reason } = context
    expect({ value, outcome, reason }).toEqual({
      value: 'failed',
      outcome: 'failed',
      reason: { code: 'reclaimed', entry: PUT_BACK },
    })
  })

  test('control: one that was never patched is left to him, ready or not', async () => {
    const drive = await settled({ stored: recorded('drain'), pod: { ...PODS.before, ready: false } })
    await drive.answer(RECLAIMED)
    expect(drive.state()).toBe('readmitting.waitingReady')
  })
})

test('interrupted on its way back to images that were rewritten: it comes home on those that it was given', async () => {
  const rollback = [{ container: 'app', image: V1 }]
  const rewritten = { ...PODS.back, containers: PODS.back.containers.map((one) => ({ ...one, image: 'mirror/app' })) }
  const drive = createDrive({ stored: recorded('patched', { rollback, generation: 3 }), pod: rewritten })
  drive.send({ type: 'interrupt' })
  expect(drive.state()).toBe('draining.reading')
  await drive.answer(OUT)
  await drive.pass(DELAYS.settle)
  await drive.answer(OUT)
  expect([drive.state(), drive.calling()]).toEqual(['claiming.writing', 'store'])
  expect((drive.input() as StoreInput).record).not.toHaveProperty('rollback')
  await drive.stored(rewritten)
  expect([drive.state(), drive.calling()]).toEqual(['restarting.confirming', 'inspect'])
  expect(drive.actor.getSnapshot().context.wanted).toEqual([{ container: 'app', image: 'mirror/app' }])
})

test.each(['in', 'out'] as const)(
  'gone while a drain that nobody answered may still arrive, and it reads %s: that is waited out',
  async (state) => {
    const drive = createDrive({ gone: true, targets: [TARGET] })
    await drive.answer({ state, inFlight: 0, pending: true, detail: said(state) })
    if (state === 'out')
      drive.send({ type: 'heir', heir: { pod: PODS.ready, sameAddress: true, isDrained: false, isReady: true }, expected: true })
    expect(drive.state()).toBe('settling.waitingOut')
    await drive.pass(DELAYS.lateArrival)
    expect([drive.state(), drive.calling()]).toEqual(['settling.reading', 'inspect'])
    await drive.answer(OUT)
    expect(drive.state()).toMatch(state === 'out' ? /^settling.intending/ : /^settling.awaiting/)
  },
)

test.each([
  { inFlight: 0, next: 'patching.writing' },
  { inFlight: 2, next: 'patching.fencing.writing' },
])('the images patch is made again only where it is still empty: $inFlight in flight', async ({ inFlight, next }) => {
  const drive = createDrive({ stored: recorded('drain', { epoch: 1 }) })
  await drive.stored()
  await drive.answer(OUT)
  await drive.pass(DELAYS.settle)
  await drive.answer(OUT)
  expect(drive.state()).toBe('patching.writing')
  await drive.answer({ kind: 'unknown', reason: said('connection reset') })
  await drive.answer({ kind: 'read', seen: { pod: PODS.before, stored: recorded('drain') } })
  await drive.pass(DELAYS.retry)
  expect(drive.state()).toBe('patching.confirming')
  await drive.answer({ ...OUT, inFlight })
  expect(drive.state()).toBe(next)
})

test('what has come in its place is drained itself by now: closed, and not put back', async () => {
  const drive = createDrive({ gone: true, targets: [TARGET] })
  await drive.answer(OUT)
  expect(drive.state()).toBe('settling.awaiting')
  drive.send({ type: 'heir', heir: { pod: PODS.ready, sameAddress: true, isDrained: true, isReady: true }, expected: true })
  expect([drive.calling(), (drive.input() as SettleInput).settlement]).toEqual(['settle', 'closed'])
  await drive.answer({ kind: 'stored' })
  expect(drive.actor.getSnapshot().context).toMatchObject({
    outcome: 'settled',
    reason: { code: 'settled-by-drained-replacement', replacement: 'web-0' },
  })
})

test('its place in the window is gone before anything was touched: it waits again, and begins anew', async () => {
  const drive = createDrive()
  drive.send({ type: 'start' })
  expect(drive.calling()).toBe('snapshot')
  drive.send({ type: 'wait' })
  expect(drive.state()).toBe('queued')
  drive.send({ type: 'start' })
  expect(drive.state()).toBe('checking.inspecting')
})

test('once the drain intent is under way there is no waiting again', async () => {
  const drive = createDrive()
  drive.send({ type: 'start' })
  await drive.answer({ kind: 'taken', targets: [TARGET], address: '10.0.0.1' })
  await drive.answer({ kind: 'stored' })
  expect(drive.state()).toMatch(/^draining/)
  drive.send({ type: 'wait' })
  expect(drive.state()).toMatch(/^draining/)
})

test('its place is gone while the drain intent is to be tried again: it waits, and begins anew', async () => {
  const drive = createDrive()
  drive.send({ type: 'start' })
  await drive.answer({ kind: 'taken', targets: [TARGET], address: '10.0.0.1' })
  await drive.answer({ kind: 'stored' })
  await drive.answer({ kind: 'unknown', reason: said('connection reset') })
  await drive.answer({ kind: 'read', seen: { pod: PODS.before, stored: { kind: 'none' } } })
  expect(drive.state()).toBe('draining.pausing')
  drive.send({ type: 'wait' })
  // The write of the intent may still arrive. A closed record keeps it out.
  expect([drive.state(), (drive.input() as StoreInput).record.step]).toEqual(['closing.writing', 'closed'])
  await drive.stored()
  expect(drive.state()).toBe('queued')
  drive.send({ type: 'start' })
  expect(drive.state()).toBe('checking.inspecting')
})

describe('an earlier owner has written down that it would be drained, and it is in rotation', () => {
  async function adopted(): Promise<Drive> {
    const drive = createDrive({ stored: recorded('drain') })
    await drive.answer(IN)
    expect([drive.state(), drive.calling()]).toEqual(['draining.admitting', undefined])
    return drive
  }

  test('it is drained once the window has a place for it', async () => {
    const drive = await adopted()
    drive.send({ type: 'start' })
    await drive.answer(IN)
    expect([drive.state(), drive.calling()]).toEqual(['draining.calling', 'effect'])
  })

  test('its deadline begins with its place', async () => {
    const drive = await adopted()
    await drive.pass(DEADLINES.drainDeadline - 1_000)
    await drive.answer(IN)
    expect(drive.state()).toBe('draining.admitting')
    await drive.pass(2_000)
    await drive.answer(UNREAD)
    expect(drive.state()).toBe('draining.waiting')
    await drive.pass(DELAYS.retry)
    await drive.answer(IN)
    drive.send({ type: 'start' })
    await drive.answer(UNREAD)
    expect(drive.state()).toBe('draining.waiting')
    await drive.pass(DEADLINES.drainDeadline)
    await drive.answer(UNREAD)
    expect(drive.state()).toBe('readmitting.writing')
  })

  test.each([
    { reads: { state: 'mixed', inFlight: 1, detail: said('mixed') }, leadsTo: 'draining.calling' },
    { reads: UNREAD, leadsTo: 'draining.waiting' },
  ])('what is out in part, or may be, has its place: $reads.state', async ({ reads, leadsTo }) => {
    const drive = createDrive({ stored: recorded('drain') })
    await drive.answer(reads)
    expect(drive.state()).toBe(leadsTo)
  })

  test('the drain was on its way, and arrives: that needs no place', async () => {
    const drive = await adopted()
    await drive.pass(DELAYS.retry)
    await drive.answer(OUT)
    expect(drive.state()).toMatch(/^emptying/)
  })

  test('interrupted, it is put back', async () => {
    const drive = await adopted()
    drive.send({ type: 'interrupt' })
    await drive.answer(IN)
    expect([drive.state(), (drive.input() as StoreInput).record.step]).toEqual(['readmitting.writing', 'restore'])
  })
})

test('somebody else patches the same images while it waits for its place: nothing to do', () => {
  const drive = createDrive()
  drive.send({ type: 'observed', pod: PODS.ready, stored: { kind: 'none' } })
  expect(drive.state()).toBe('done')
  expect(drive.actor.getSnapshot().context.outcome).toBe('skipped')
})

test.each([
  ['no image', []],
  ['another container’s image', [{ container: 'proxy', image: 'registry/proxy:v1' }]],
])(
  'adopted as an earlier owner has patched it, by a request for %s: what that one has patched is proven all the same',
  async (_, wanted) => {
    const withProxy = (pod: PodView): PodView => ({ ...pod, containers: [...pod.containers, PROXY] })
    const drive = createDrive({ wanted, stored: recorded('patched', { epoch: 1 }), pod: withProxy(PODS.asked) })
    await drive.stored()
    await drive.answer(OUT)
    expect(drive.state()).toBe('restarting.watching.resting')
    drive.send({ type: 'observed', pod: withProxy(PODS.witness), stored: recorded('patched') })
    expect(drive.state()).toBe('restarting.watching.resting')
    drive.send({ type: 'observed', pod: withProxy(PODS.ready), stored: recorded('patched') })
    expect(drive.state()).toBe('warming.steady')
  },
)
