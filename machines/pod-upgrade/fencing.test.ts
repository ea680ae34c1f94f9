import { describe, expect, test } from 'vitest'
import type { ReadJournal } from '../../src/pods/glossary.ts'
import type { StoreInput } from './ports.ts'
import type { Drive } from './testing/drive.ts'
import { createDrive, DEADLINES, DELAYS } from './testing/drive.ts'
import { PODS } from './testing/explore.ts'
import { OUT, recorded, REJECTED, UNKNOWN } from './testing/recorded.ts'
import { V1, V2 } from './testing/world.ts'

/*
 * Images that nobody has answered for may land at any time. The record that they are guarded by is written anew before anything else,
 * so that they have landed before that, or never do. Found by simulation (seed 60969043).
 */

const written = ({ calling, input }: Drive): Partial<StoreInput> | undefined =>
  calling() === 'store' ? (input() as StoreInput) : undefined

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
  { state: 'patching', begin: patching, step: 'drain', read: { pod: PODS.before, stored: recorded('drain') } },
  { state: 'rollingBack', begin: rollingBack, step: 'patched', read: { pod: PODS.witness, stored: recorded('patched') } },
] as const

describe.each(STATES)('$state: images that are not answered', ({ state, begin, step, read }) => {
  test('the record is written anew first, and they are sent again over that', async () => {
    const drive = await begin()
    for (const fence of [1, 2]) {
      await drive.answer(UNKNOWN)
      expect(written(drive)).toMatchObject({ restates: true, record: { ...read.stored.journal, step, fence } })
      expect(written(drive)!.record!.rollback).toBeUndefined()
      await drive.stored()
      expect([drive.state(), drive.calling()]).toEqual([`${state}.pausing`, undefined])
      await drive.pass(DELAYS.retry)
      await drive.answer(OUT)
      expect(drive.state()).toBe(`${state}.writing`)
      expect(written(drive)).toMatchObject({ record: { step: 'patched', fence } })
      expect(written(drive)!.restates).toBeUndefined()
    }
  })

  test('which is read back where that is not answered, and written until it stands', async () => {
    const drive = await begin()
    const fences = []
    await drive.answer(UNKNOWN)
    for (let tries = 0; tries < 3; tries++) {
      fences.push(written(drive)!.record!.fence)
      await drive.answer(UNKNOWN)
      await drive.answer(UNKNOWN)
      await drive.pass(DELAYS.retry)
      await drive.answer({ kind: 'read', seen: read })
      expect([drive.state(), drive.calling()]).toEqual([`${state}.fencing.pausing`, undefined])
      await drive.pass(DELAYS.retry)
    }
    expect(fences).toEqual([1, 1, 1])
    await drive.answer(UNKNOWN)
    const stored = { ...read.stored, journal: { ...read.stored.journal, fence: 1 } }
    await drive.answer({ kind: 'read', seen: { ...read, stored } })
    expect(drive.state()).toBe(`${state}.pausing`)
  })

  test('it is refused, since they have landed: gone on with', async () => {
    const drive = await begin()
    const { record } = written(drive)!
    await drive.answer(UNKNOWN)
    await drive.answer(REJECTED)
    const pod = state === 'patching' ? PODS.asked : PODS.back
    await drive.answer({ kind: 'read', seen: { pod, stored: { kind: 'read', journal: record! } } })
    expect(drive.state()).toBe('restarting.watching')
  })

  test('somebody else has landed what has to be refused: nothing is sent over that', async () => {
    const drive = await begin()
    await drive.answer(UNKNOWN)
    await drive.answer(REJECTED)
    const stored = recorded('drain', { run: 'run-2', epoch: 3 })
    await drive.answer({ kind: 'read', seen: { ...read, stored } })
    expect([drive.state(), drive.actor.getSnapshot().context.outcome]).toEqual(['stopped', 'conflict'])
  })

  test.each<{ name: string; stored: ReadJournal }>([
    { name: 'removed', stored: { kind: 'none' } },
    { name: 'made unreadable', stored: { kind: 'unreadable', reason: 'nonsense' } },
  ])(
    'and the journal was $name since: it is not written anew, since they are guarded by what is there no more',
    async (given) => {
      const drive = await begin()
      drive.send({ type: 'observed', pod: read.pod, stored: given.stored })
      await drive.answer(UNKNOWN)
      expect([drive.state(), drive.calling()]).toEqual([`${state}.pausing`, undefined])
    },
  )

  test('it is seen to get requests while they are under way: not waited for', async () => {
    const drive = await begin()
    drive.send({ type: 'reloaded' })
    expect(drive.state()).toBe(`${state}.fencing.writing`)
    expect(written(drive)).toMatchObject({ restates: true, record: { step, fence: 1 } })
    // Who has seen that drains it.
    expect(drive.actor.getSnapshot().hasTag('busy')).toBe(true)
    await drive.stored()
    await drive.pass(DELAYS.retry)
    await drive.answer(OUT)
    expect(drive.state()).toBe(state === 'patching' ? 'emptying.redraining' : 'rollingBack.settling')
  })

  test.each([
    { name: 'gone', event: { type: 'gone' } as const },
    { name: 'removed from', event: { type: 'observed', pod: read.pod, stored: { kind: 'none' } } as const },
  ])('the same, and it is $name: waited for', async ({ event }) => {
    const drive = await begin()
    drive.send(event)
    drive.send({ type: 'reloaded' })
    expect(drive.state()).toBe(`${state}.writing`)
  })

  test('never to be got out of the way: given up after the deadline', async () => {
    const drive = await begin()
    for (let passed = 0; passed < DEADLINES.drainDeadline + 10_000 && drive.state().startsWith(state); passed += 50) {
      while (['store', 'read'].includes(drive.calling() ?? ''))
        await drive.answer(drive.calling() === 'store' ? UNKNOWN : { kind: 'read', seen: read })
      await drive.pass(50)
    }
    expect(drive.actor.getSnapshot().context).toMatchObject({ outcome: 'failed', deadline: 'drain' })
  })
})

test('interrupted while images are in doubt: put back once they are out of the way, and on those that it had', async () => {
  const drive = await patching()
  drive.send({ type: 'interrupt' })
  await drive.answer(UNKNOWN)
  await drive.answer(UNKNOWN)
  await drive.answer({ kind: 'read', seen: { pod: PODS.before, stored: recorded('drain') } })
  expect(drive.state()).toBe('patching.fencing.pausing')
  await drive.pass(DELAYS.retry)
  await drive.stored()
  expect([drive.state(), written(drive)!.record!.step]).toEqual(['readmitting.writing', 'restore'])
})

test('images that were refused can land no more: the record stays as it is', async () => {
  const drive = await patching()
  await drive.answer(REJECTED)
  await drive.answer({ kind: 'read', seen: { pod: PODS.before, stored: recorded('drain') } })
  await drive.pass(DELAYS.retry)
  await drive.answer(OUT)
  expect(drive.state()).toBe('patching.writing')
  expect(written(drive)!.record).toMatchObject({ step: 'patched' })
  expect(written(drive)!.record!.fence).toBeUndefined()
  expect(written(drive)!.wanted).toEqual([{ container: 'app', image: V2 }])
})
