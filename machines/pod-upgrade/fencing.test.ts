import { describe, expect, test } from 'vitest'
import type { ReadJournal } from '../../src/pods/glossary.ts'
import { fencedRecord } from './facts.ts'
import type { StoreInput } from './ports.ts'
import type { Drive } from './testing/drive.ts'
import { createDrive, DEADLINES, DELAYS } from './testing/drive.ts'
import { PODS } from './testing/explore.ts'
import { IN, OUT, PUT_BACK, recorded, REJECTED, said, UNKNOWN, UNREAD } from './testing/recorded.ts'
import { V1, V2 } from './testing/world.ts'

/*
 * Images whose write has no answer may land at any time. Before the pod is drained again, put back or given up, the record that the write
 * tests is written anew. The images have landed before that, or never land.
 */

const BUSY = { ...OUT, inFlight: 2 }
const RELOADED = { type: 'reloaded' } as const

const written = ({ calling, input }: Drive): StoreInput | undefined =>
  calling() === 'store' ? (input() as StoreInput) : undefined
const isFence = (drive: Drive): boolean => written(drive)?.restates === true

async function patching(): Promise<Drive> {
  const drive = createDrive({ stored: recorded('drain') })
  await drive.answer(OUT)
  await drive.pass(DELAYS.settle)
  await drive.answer(OUT)
  expect(written(drive)).toMatchObject({ record: { step: 'patched' } })
  return drive
}

async function rollingBack(): Promise<Drive> {
  const drive = createDrive({ stored: recorded('patched'), pod: PODS.witness }, { rollsBack: () => true })
  await drive.answer(OUT)
  await drive.pass(DEADLINES.restartDeadline)
  await drive.answer(OUT)
  expect(written(drive)).toMatchObject({ record: { step: 'patched', rollback: [{ container: 'app', image: V1 }] } })
  return drive
}

const STATES = [
  {
    state: 'patching',
    begin: patching,
    step: 'drain',
    seen: { pod: PODS.before, stored: recorded('drain') },
    landed: PODS.asked,
  },
  {
    state: 'rollingBack',
    begin: rollingBack,
    step: 'patched',
    seen: { pod: PODS.witness, stored: recorded('patched') },
    landed: PODS.back,
  },
] as const

describe.each(STATES)('$state: images that are not answered', ({ state, begin, step, seen, landed }) => {
  const read = { kind: 'read', seen }

  /** The read-back does not find the images, and the load balancers are asked again. */
  async function inDoubt(): Promise<Drive> {
    const drive = await begin()
    await drive.answer(UNKNOWN)
    await drive.answer(read)
    await drive.pass(DELAYS.retry)
    expect(drive.state()).toBe(`${state}.confirming`)
    return drive
  }

  test('while it is out they are sent again, over the same record: whichever lands is the one', async () => {
    const drive = await inDoubt()
    await drive.answer(OUT)
    const { record } = written(drive)!
    expect(drive.state()).toBe(`${state}.writing`)
    expect(record.fence).toBeUndefined()
    await drive.answer(REJECTED)
    await drive.answer({ kind: 'read', seen: { pod: landed, stored: { kind: 'read', journal: record } } })
    expect(drive.state()).toBe('restarting.watching.resting')
  })

  test.each([
    { name: 'is in rotation', reading: IN },
    { name: 'has requests under way', reading: BUSY },
  ])('it $name: the record is written anew first, and they are sent again over that', async ({ reading }) => {
    const drive = await inDoubt()
    for (const fence of [1, 2]) {
      await drive.answer(reading)
      expect(written(drive)).toMatchObject({ restates: true, record: { ...seen.stored.journal, step, fence } })
      expect(written(drive)!.record.rollback).toBeUndefined()
      await drive.stored()
      expect([drive.state(), drive.calling()]).toEqual([`${state}.pausing`, undefined])
      await drive.pass(DELAYS.retry)
      await drive.answer(OUT)
      expect(written(drive)).toMatchObject({ record: { step: 'patched', fence } })
      expect(isFence(drive)).toBe(false)
      await drive.answer(UNKNOWN)
      await drive.answer({
        kind: 'read',
        seen: { ...seen, stored: { ...seen.stored, journal: { ...seen.stored.journal, fence } } },
      })
      await drive.pass(DELAYS.retry)
      expect(drive.state()).toBe(`${state}.confirming`)
    }
  })

  test.each(['writing', 'rereading', 'pausing', 'confirming'])('it is seen to get requests in %s: at once', async (at) => {
    const drive = await begin()
    if (at !== 'writing') await drive.answer(UNKNOWN)
    if (at === 'pausing' || at === 'confirming') await drive.answer(read)
    if (at === 'confirming') await drive.pass(DELAYS.retry)
    expect(drive.state()).toBe(`${state}.${at}`)
    drive.send(RELOADED)
    expect(written(drive)).toMatchObject({ restates: true, record: { step, fence: 1 } })
    // The engine sees the requests too, and drains the pod.
    expect(drive.actor.getSnapshot().hasTag('busy')).toBe(true)
    await drive.stored()
    await drive.pass(DELAYS.retry)
    await drive.answer(OUT)
    expect(drive.state()).toBe(`${state}.settling`)
  })

  test.each(['writing', 'rereading', 'pausing'])('the same, once more in fencing.%s: at once, too', async (at) => {
    const drive = await begin()
    drive.send(RELOADED)
    if (at !== 'writing') await drive.answer(UNKNOWN)
    if (at === 'pausing') await drive.answer(read)
    expect(drive.state()).toBe(`${state}.fencing.${at}`)
    drive.send(RELOADED)
    expect(drive.state()).toBe(`${state}.fencing.writing`)
    expect(written(drive)!.record.fence).toBe(1)
  })

  test('which is read back where that is not answered, and written until it stands', async () => {
    const drive = await inDoubt()
    await drive.answer(IN)
    for (let tries = 0; tries < 3; tries++) {
      expect(written(drive)!.record.fence).toBe(1)
      await drive.answer(UNKNOWN)
      await drive.answer(UNKNOWN)
      await drive.pass(DELAYS.retry)
      await drive.answer(read)
      expect([drive.state(), drive.calling()]).toEqual([`${state}.fencing.pausing`, undefined])
      await drive.pass(DELAYS.retry)
    }
    await drive.answer(UNKNOWN)
    await drive.answer({
      kind: 'read',
      seen: { ...seen, stored: { ...seen.stored, journal: { ...seen.stored.journal, fence: 1 } } },
    })
    expect(drive.state()).toBe(`${state}.pausing`)
  })

  test('it is stored, and somebody has written over it by then: again, after a pause', async () => {
    const drive = await inDoubt()
    await drive.answer(IN)
    await drive.answer({ kind: 'stored', seen })
    expect([drive.state(), drive.calling()]).toEqual([`${state}.fencing.pausing`, undefined])
    await drive.pass(DELAYS.retry)
    expect(isFence(drive)).toBe(true)
  })

  test.each(['its answer', 'the watch'])('it is refused, since they have landed, as %s says: gone on with', async (by) => {
    const drive = await begin()
    const { record } = written(drive)!
    const there = { pod: landed, stored: { kind: 'read', journal: record } as const }
    drive.send(RELOADED)
    if (by === 'the watch') {
      drive.send({ type: 'observed', ...there })
    } else {
      await drive.answer(REJECTED)
      await drive.answer({ kind: 'read', seen: there })
    }
    expect(drive.state()).toBe('restarting.watching.resting')
  })

  test('a later owner has written it: nothing is sent over that', async () => {
    const drive = await begin()
    drive.send(RELOADED)
    await drive.answer(REJECTED)
    await drive.answer({ kind: 'read', seen: { ...seen, stored: recorded('drain', { run: 'run-2', epoch: 3 }) } })
    expect([drive.state(), drive.actor.getSnapshot().context.outcome]).toEqual(['stopped', 'conflict'])
  })

  describe.each<{ how: string; stored: ReadJournal }>([
    { how: 'removed', stored: { kind: 'none' } },
    { how: 'made unreadable', stored: { kind: 'unreadable', problem: { code: 'record-not-json' } } },
  ])('somebody has $how the journal', ({ stored }) => {
    const lost = { type: 'observed', pod: seen.pod, stored } as const

    test('before they are sent: it is written anew first, since nothing could keep them out', async () => {
      const drive = await begin()
      await drive.answer(REJECTED)
      await drive.answer(read)
      await drive.pass(DELAYS.retry)
      drive.send(lost)
      await drive.answer(OUT)
      expect(written(drive)).toMatchObject({ restates: true, stored, record: { ...seen.stored.journal, step, fence: 1 } })
      await drive.stored()
      await drive.pass(DELAYS.retry)
      await drive.answer(OUT)
      expect(written(drive)).toMatchObject({ record: { step: 'patched', fence: 1 } })
      expect(isFence(drive)).toBe(false)
    })

    test.each(['rereading', 'pausing', 'confirming'])(
      'in $0, and patched the pod, once they have landed: his images stay',
      async (at) => {
        const drive = await begin()
        const { record } = written(drive)!
        const his = {
          ...landed,
          generation: landed.generation + 1,
          containers: landed.containers.map((one) => ({ ...one, image: 'his' })),
        }
        await drive.answer(UNKNOWN)
        if (at !== 'rereading') await drive.answer(read)
        if (at === 'confirming') await drive.pass(DELAYS.retry)
        expect(drive.state()).toBe(`${state}.${at}`)
        drive.send({ type: 'observed', pod: landed, stored: { kind: 'read', journal: record } })
        drive.send({ type: 'observed', pod: his, stored })
        if (at === 'rereading') await drive.answer({ kind: 'read', seen: { pod: his, stored } })
        if (at === 'pausing') await drive.pass(DELAYS.retry)
        if (at !== 'rereading') await drive.answer(OUT)
        expect(written(drive)).toBeUndefined()
        expect(drive.actor.getSnapshot().context).toMatchObject({
          outcome: 'failed',
          reason: { images: [{ container: 'app', image: 'his' }] },
        })
      },
    )

    test('since they were sent: over that', async () => {
      const drive = await begin()
      drive.send(lost)
      drive.send(RELOADED)
      expect(written(drive)).toMatchObject({ restates: true, stored, record: { step, fence: 1 } })
    })
  })

  test('somebody removes the journal as soon as it is written: given up after the deadline', async () => {
    const drive = await begin()
    await drive.answer(REJECTED)
    await drive.answer({ kind: 'read', seen: { ...seen, stored: { kind: 'none' } } })
    let [passedMs, fences] = [0, 0]
    for (; passedMs < 3 * DEADLINES.drainDeadline && drive.state().startsWith(state); passedMs += 50) {
      if (drive.calling() === 'inspect') await drive.answer(OUT)
      if (isFence(drive)) {
        fences += 1
        await drive.stored(seen.pod)
        drive.send({ type: 'observed', pod: seen.pod, stored: { kind: 'none' } })
      }
      await drive.pass(50)
    }
    expect(fences).toBeGreaterThan(10)
    expect(passedMs).toBeGreaterThan(DEADLINES.drainDeadline - 1_000)
    expect(drive.actor.getSnapshot().context).toMatchObject({ outcome: 'failed', deadline: 'drain' })
  })

  test('an operator has put it back in a load balancer, while another cannot be read: at once', async () => {
    const drive = await inDoubt()
    await drive.answer({ ...UNREAD, reclaimed: PUT_BACK })
    expect(isFence(drive)).toBe(true)
    await drive.stored()
    await drive.pass(DELAYS.retry)
    await drive.answer({ ...UNREAD, reclaimed: PUT_BACK })
    expect(drive.actor.getSnapshot().context.reason).toEqual({ code: 'reclaimed', entry: PUT_BACK })
  })

  test('it is gone as it is seen to get requests: the answer is waited for', async () => {
    const drive = await begin()
    drive.send({ type: 'gone' })
    drive.send(RELOADED)
    expect(drive.state()).toBe(`${state}.writing`)
  })

  test.each([
    { name: 'not answered', answer: UNKNOWN },
    { name: 'refused', answer: REJECTED },
  ])('never to be got out of the way, $name: given up after the deadline, and not before', async ({ answer }) => {
    const drive = await inDoubt()
    await drive.answer(IN)
    let passedMs = 0
    for (; passedMs < DEADLINES.drainDeadline + 30_000 && drive.state().startsWith(state); passedMs += 50) {
      while (['store', 'read'].includes(drive.calling() ?? '')) await drive.answer(drive.calling() === 'store' ? answer : read)
      await drive.pass(50)
    }
    expect(passedMs).toBeGreaterThan(DEADLINES.drainDeadline - 1_000)
    expect(drive.actor.getSnapshot().context).toMatchObject({ outcome: 'failed', deadline: 'drain' })
  })

  test('it gets requests again at each of its writes: given up after the deadline', async () => {
    const drive = await begin()
    let [passedMs, writes] = [0, 0]
    const pass = async (ms: number): Promise<void> => {
      passedMs += ms
      await drive.pass(ms)
    }
    while (passedMs < 3 * DEADLINES.drainDeadline && drive.state().startsWith(state)) {
      if (drive.calling() === 'inspect') await drive.answer(OUT)
      else if (isFence(drive)) await drive.stored(seen.pod)
      else if (drive.state() === `${state}.writing`) {
        writes += 1
        await pass(1_000)
        drive.send(RELOADED)
      } else await pass(50)
    }
    expect(writes).toBeGreaterThan(10)
    expect(passedMs).toBeGreaterThan(DEADLINES.drainDeadline - 1_000)
    expect(drive.actor.getSnapshot().context).toMatchObject({ outcome: 'failed', deadline: 'drain' })
  })
})

test('interrupted while images are in doubt: put back once they are out of the way, and on those that it had', async () => {
  const drive = await patching()
  drive.send({ type: 'interrupt' })
  await drive.answer(UNKNOWN)
  await drive.answer({ kind: 'read', seen: { pod: PODS.before, stored: recorded('drain') } })
  expect(isFence(drive)).toBe(true)
  await drive.answer(UNKNOWN)
  await drive.answer({ kind: 'read', seen: { pod: PODS.before, stored: recorded('drain') } })
  expect(drive.state()).toBe('patching.fencing.pausing')
  await drive.pass(DELAYS.retry)
  await drive.stored()
  expect([drive.state(), written(drive)!.record.step]).toEqual(['readmitting.writing', 'restore'])
})

test('interrupted after images in doubt were read back: the same', async () => {
  const drive = await patching()
  await drive.answer(UNKNOWN)
  await drive.answer({ kind: 'read', seen: { pod: PODS.before, stored: recorded('drain') } })
  drive.send({ type: 'interrupt' })
  await drive.pass(DELAYS.retry)
  await drive.answer(OUT)
  expect(isFence(drive)).toBe(true)
  await drive.stored()
  expect([drive.state(), written(drive)!.record.step]).toEqual(['readmitting.writing', 'restore'])
})

test('a rollback goes on where it is interrupted: its images are not kept out', async () => {
  const drive = await rollingBack()
  drive.send({ type: 'interrupt' })
  await drive.answer(UNKNOWN)
  await drive.answer({ kind: 'read', seen: { pod: PODS.witness, stored: recorded('patched') } })
  expect([drive.state(), drive.calling()]).toEqual(['rollingBack.pausing', undefined])
})

test('interrupted while a journal that was removed is written anew: put back, since there are no images to keep out', async () => {
  const drive = await patching()
  const none = { kind: 'read', seen: { pod: PODS.before, stored: { kind: 'none' } } }
  await drive.answer(REJECTED)
  await drive.answer(none)
  await drive.pass(DELAYS.retry)
  await drive.answer(OUT)
  expect(isFence(drive)).toBe(true)
  drive.send({ type: 'interrupt' })
  await drive.answer(UNKNOWN)
  await drive.answer(none)
  expect([drive.state(), written(drive)!.record.step]).toEqual(['readmitting.writing', 'restore'])
})

test('images that were refused can land no more: the record stays as it is', async () => {
  const drive = await patching()
  await drive.answer(REJECTED)
  await drive.answer({ kind: 'read', seen: { pod: PODS.before, stored: recorded('drain') } })
  await drive.pass(DELAYS.retry)
  await drive.answer(IN)
  expect(drive.state()).toBe('patching.returned')
  expect(written(drive)).toBeUndefined()
})

test.each([
  { name: 'done', answer: { kind: 'applied' }, next: 'patching.settling' },
  { name: 'not answered', answer: UNKNOWN, next: 'patching.looking' },
  { name: 'refused', answer: { kind: 'refused', reason: said('no') }, next: 'readmitting.writing' },
])('it is in rotation as it is to be patched once more: drained again, which is $name', async ({ answer, next }) => {
  const drive = await patching()
  await drive.answer(REJECTED)
  await drive.answer({ kind: 'read', seen: { pod: PODS.before, stored: recorded('drain') } })
  await drive.pass(DELAYS.retry)
  await drive.answer(IN)
  await drive.pass(DELAYS.retry)
  expect([drive.state(), drive.calling()]).toEqual(['patching.redraining', 'effect'])
  await drive.answer(answer)
  expect(drive.state()).toBe(next)
  if (next !== 'patching.settling') return
  await drive.pass(DELAYS.settle)
  await drive.pass(DELAYS.poll)
  await drive.answer(OUT)
  expect(written(drive)!.wanted).toEqual([{ container: 'app', image: V2 }])
})

test.each([
  { change: {}, step: 'patched' },
  { change: { generation: undefined }, step: 'drain' },
])('the record of a restore that somebody has removed is written as of before that: $step', ({ change, step }) => {
  const { generation, ...lastRead } = { ...recorded('restore').journal, ...change }
  const known = { ...lastRead, ...(generation === undefined ? {} : { generation }) }
  const context = { run: 'run-1', epoch: 2, gone: false, keepsPatch: false, record: known, lastRead: known }
  expect(fencedRecord({ ...context, stored: { kind: 'none' } })).toEqual({ ...known, step, fence: 1 })
  expect(fencedRecord({ ...context, stored: { kind: 'read', journal: known } })).toEqual({ ...known, fence: 1 })
})
