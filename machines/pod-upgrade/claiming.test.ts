import { describe, expect, test } from 'vitest'
import type { PodView, ReadJournal } from '../../src/pods/glossary.ts'
import type { StoreInput } from './ports.ts'
import type { Drive } from './testing/drive.ts'
import { DEADLINES, LAST_TRIES_MS, createDrive } from './testing/drive.ts'
import { PODS } from './testing/explore.ts'
import { IN, OUT, recorded, REJECTED, UNKNOWN } from './testing/recorded.ts'
import { TARGET, V1 } from './testing/world.ts'

/* An open record of an earlier owner is claimed before any other step. This owner has epoch 2. */

const CLOSED = recorded('closed', { epoch: 1, targets: [] })

const read = (stored: ReadJournal, pod: PodView = PODS.before) => ({ kind: 'read', seen: { pod, stored } })
const contextOf = ({ actor }: Drive) => actor.getSnapshot().context
const end = (drive: Drive) => {
  const { outcome, reason, deadline } = contextOf(drive)
  return { state: drive.state(), outcome, reason, deadline }
}

/** Refuses the claim, and answers the read with `seen`. */
async function refused(drive: Drive, seen: object): Promise<void> {
  expect([drive.state(), drive.calling()]).toEqual(['claiming.writing', 'store'])
  await drive.answer(REJECTED)
  expect([drive.state(), drive.calling()]).toEqual(['claiming.rereading', 'read'])
  await drive.answer(seen)
}

test.each([
  { step: 'drain', pod: PODS.before, next: 'draining.reading' },
  { step: 'patched', pod: PODS.witness, next: 'restarting.confirming' },
  { step: 'restore', pod: PODS.ready, next: 'restoring.reading' },
] as const)('$step: the same record in this owner’s name, then the read-back', async ({ step, pod, next }) => {
  const stored = recorded(step, { epoch: 1 })
  const drive = createDrive({ stored, pod })
  expect([drive.state(), drive.calling()]).toEqual(['claiming.writing', 'store'])
  const input = drive.input() as StoreInput
  expect(input).toMatchObject({ restates: true, stored, record: { run: 'run-1', epoch: 2, attempt: 1, step, targets: [TARGET] } })
  expect(input.record.baseline).toEqual(stored.journal.baseline)
  await drive.stored()
  expect([drive.state(), drive.calling()]).toEqual([next, 'inspect'])
})

test('of another run it keeps which one has drained it', () => {
  const drive = createDrive({ stored: recorded('patched', { epoch: 1, run: 'run-0' }), pod: PODS.witness })
  expect((drive.input() as StoreInput).record).toMatchObject({ run: 'run-1', epoch: 2, origin: 'run-0' })
})

test.each(['drain', 'patched', 'restore'] as const)('%s of this owner is not claimed', (step) => {
  const drive = createDrive({ stored: recorded(step), pod: PODS.ready })
  expect(drive.calling()).toBe('inspect')
})

describe('closed meanwhile by the earlier owner: no effect', () => {
  test('and still to do: it waits for its place, as an attempt of its own', async () => {
    const drive = createDrive({ stored: recorded('drain', { epoch: 1 }) })
    await refused(drive, read(CLOSED))
    expect([drive.state(), drive.calling()]).toEqual(['queued', undefined])
    drive.send({ type: 'start' })
    await drive.answer({ kind: 'taken', targets: [TARGET], address: '10.0.0.1' })
    await drive.answer({ kind: 'stored' })
    expect((drive.input() as StoreInput).record).toMatchObject({ step: 'drain', attempt: 2, epoch: 2 })
  })

  test('and done: skipped', async () => {
    const drive = createDrive({ stored: recorded('restore', { epoch: 1 }), pod: PODS.ready })
    await refused(drive, read(CLOSED, PODS.ready))
    expect(end(drive)).toMatchObject({ state: 'done', outcome: 'skipped' })
  })

  test('and interrupted: unchanged', async () => {
    const drive = createDrive({ stored: recorded('drain', { epoch: 1 }) })
    drive.send({ type: 'interrupt' })
    await refused(drive, read(CLOSED))
    expect(end(drive)).toMatchObject({ state: 'done', outcome: 'unchanged' })
  })

  test('seen by the watch in the pause before another try: not written over', async () => {
    const drive = createDrive({ stored: recorded('drain', { epoch: 1 }) })
    await refused(drive, read(recorded('drain', { epoch: 1 })))
    expect([drive.state(), drive.calling()]).toEqual(['claiming.pausing', undefined])
    drive.send({ type: 'observed', pod: PODS.before, stored: CLOSED })
    await drive.pass(250)
    expect([drive.state(), drive.calling()]).toEqual(['queued', undefined])
  })

  test('a rollback that was brought home says nothing of the attempt that follows', async () => {
    const stored = recorded('restore', { epoch: 1, rollback: [{ container: 'app', image: V1 }], generation: 3 })
    const drive = createDrive({ stored, pod: PODS.backReady })
    expect(contextOf(drive).outcome).toBe('rolledBack')
    await refused(drive, read(CLOSED, PODS.backReady))
    expect(end(drive)).toEqual({ state: 'queued', outcome: undefined, reason: undefined, deadline: undefined })
  })
})

describe('another owner, later than this one, has written it', () => {
  const usurped = recorded('drain', { run: 'run-9', epoch: 3 })
  const conflict = { state: 'stopped', outcome: 'conflict', reason: { code: 'journal-usurped' } }

  test('found when the claim was refused', async () => {
    const drive = createDrive({ stored: recorded('drain', { epoch: 1 }) })
    await refused(drive, read(usurped))
    expect(end(drive)).toMatchObject(conflict)
  })

  test('seen by the watch in the pause before another try: not written over', async () => {
    const drive = createDrive({ stored: recorded('drain', { epoch: 1 }) })
    await refused(drive, read(recorded('drain', { epoch: 1 })))
    drive.send({ type: 'observed', pod: PODS.before, stored: usurped })
    await drive.pass(250)
    expect(end(drive)).toMatchObject(conflict)
  })
})

test('the record has gone on meanwhile: that one is claimed', async () => {
  const drive = createDrive({ stored: recorded('drain', { epoch: 1 }) })
  await refused(drive, read(recorded('patched', { epoch: 1 }), PODS.asked))
  await drive.pass(250)
  expect(drive.input()).toMatchObject({ restates: true, record: { step: 'patched', generation: 2, epoch: 2 } })
  await drive.stored()
  expect(drive.state()).toBe('restarting.confirming')
})

test('closed, and drained anew: the prior state is that of the attempt that is open', async () => {
  const drive = createDrive({ stored: recorded('drain', { epoch: 1 }) })
  const later = { ...TARGET, prior: 'weight 5' }
  await refused(drive, read(recorded('drain', { epoch: 1, attempt: 2, targets: [later] })))
  await drive.pass(250)
  expect((drive.input() as StoreInput).record).toMatchObject({ attempt: 2, targets: [later] })
})

test('a person has said meanwhile what the pod’s traffic is: that is kept', async () => {
  const drive = createDrive({ stored: recorded('drain', { epoch: 1 }) })
  const said = { ...TARGET, said: 'out' as const }
  await refused(drive, read(recorded('drain', { epoch: 1, targets: [said] })))
  await drive.pass(250)
  expect((drive.input() as StoreInput).record.targets).toEqual([said])
})

describe('no answer: read again, and decided by what is stored', () => {
  test('it had arrived', async () => {
    const drive = createDrive({ stored: recorded('drain', { epoch: 1 }) })
    await drive.answer(UNKNOWN)
    await drive.answer(UNKNOWN)
    expect(drive.state()).toBe('claiming.rewaiting')
    await drive.pass(250)
    await drive.answer(read(recorded('drain')))
    expect([drive.state(), drive.calling()]).toEqual(['draining.reading', 'inspect'])
  })

  test('it had not: written again, after a pause', async () => {
    const drive = createDrive({ stored: recorded('drain', { epoch: 1 }) })
    await drive.answer(UNKNOWN)
    await drive.answer(read(recorded('drain', { epoch: 1 })))
    expect(drive.calling()).toBeUndefined()
    await drive.pass(250)
    expect([drive.state(), drive.calling()]).toEqual(['claiming.writing', 'store'])
  })
})

test('refused again and again: failed, after five tries', async () => {
  const drive = createDrive({ stored: recorded('patched', { epoch: 1 }), pod: PODS.witness })
  for (let tries = 1; tries <= 5; tries++) {
    await refused(drive, read(recorded('patched', { epoch: 1 }), PODS.witness))
    if (tries < 5) await drive.pass(250)
  }
  expect(end(drive)).toEqual({
    state: 'failed',
    outcome: 'failed',
    reason: { code: 'record-not-taken-over', because: REJECTED.reason },
    deadline: undefined,
  })
})

test('never known to be stored: failed at the restore deadline', async () => {
  const drive = createDrive({ stored: recorded('drain', { epoch: 1 }) })
  for (let passed = 0; passed < DEADLINES.restoreDeadline + LAST_TRIES_MS; passed += 50) {
    if (drive.calling() === 'store') await drive.answer(UNKNOWN)
    if (drive.calling() === 'read') await drive.answer(read(recorded('drain', { epoch: 1 })))
    await drive.pass(50)
  }
  expect(end(drive)).toMatchObject({ state: 'failed', outcome: 'failed', deadline: 'restore' })
})

test('interrupted meanwhile: claimed, and then put back', async () => {
  const drive = createDrive({ stored: recorded('drain', { epoch: 1 }) })
  drive.send({ type: 'interrupt' })
  expect(drive.state()).toBe('claiming.writing')
  await drive.stored()
  await drive.answer(OUT)
  await drive.pass(2_000)
  await drive.answer(OUT)
  expect(drive.state()).toBe('readmitting.writing')
})

test('a journal that nobody can read any more is for a person', async () => {
  const drive = createDrive({ stored: recorded('drain', { epoch: 1 }) })
  await refused(drive, read({ kind: 'unreadable', problem: { code: 'record-not-json' } }))
  expect(drive.state()).toBe('needsOperator')
})

describe('the pod', () => {
  test('gone before, and its record with it: settled by what the ledger says', () => {
    const drive = createDrive({ stored: recorded('drain', { epoch: 1 }), gone: true })
    expect(drive.state()).toBe('settling.reading')
  })

  test.each([
    { name: 'told by the watch', seen: UNKNOWN },
    { name: 'found by the read', seen: { kind: 'gone' } },
  ])('gone meanwhile, $name: settled', async ({ seen }) => {
    const drive = createDrive({ stored: recorded('drain', { epoch: 1 }) })
    if (seen === UNKNOWN) drive.send({ type: 'gone' })
    expect(drive.state()).toBe('claiming.writing')
    await drive.answer(REJECTED)
    await drive.answer(seen)
    if (seen === UNKNOWN) {
      await drive.pass(250)
      await drive.answer({ kind: 'gone' })
    }
    expect([drive.state(), drive.calling()]).toEqual(['settling.reading', 'inspect'])
  })

  test.each(['deleting', 'finished'] as const)('%s: claimed, and then settled', async (how) => {
    const drive = createDrive({ stored: recorded('drain', { epoch: 1 }), pod: { ...PODS.before, [how]: true } })
    expect(drive.state()).toBe('claiming.writing')
    await drive.stored()
    expect(drive.state()).toBe('settling.reading')
  })
})

describe('it comes to light only when this owner has begun: prior state and attempt are those of the record', () => {
  const earlier = { ...TARGET, prior: 'weight 5' }
  const open = recorded('drain', { epoch: 1, targets: [earlier] })
  const snapshot = { kind: 'taken', targets: [{ ...TARGET, untouched: true }], address: '10.0.0.1' }

  const claimed = (drive: Drive) => ({ state: drive.state(), calling: drive.calling(), input: drive.input() })
  const expected = {
    state: 'claiming.writing',
    calling: 'store',
    input: { restates: true, record: { step: 'drain', epoch: 2, attempt: 1, targets: [earlier] } },
  }

  test('while it waits for its place', () => {
    const drive = createDrive()
    drive.send({ type: 'observed', pod: PODS.before, stored: open })
    expect(claimed(drive)).toMatchObject(expected)
  })

  async function checked(): Promise<Drive> {
    const drive = createDrive()
    drive.send({ type: 'start' })
    await drive.answer(snapshot)
    return drive
  }

  test('while it is checked', async () => {
    const drive = await checked()
    drive.send({ type: 'observed', pod: PODS.before, stored: open })
    await drive.answer({ kind: 'stored' })
    expect(claimed(drive)).toMatchObject(expected)
  })

  test('while it waits again, since it has lost its place: it asks for one anew before it is drained', async () => {
    const drive = await checked()
    drive.send({ type: 'wait' })
    expect(drive.state()).toBe('queued')
    drive.send({ type: 'observed', pod: PODS.before, stored: open })
    expect(claimed(drive)).toMatchObject(expected)
    await drive.stored()
    await drive.answer(IN)
    expect([drive.state(), drive.calling()]).toEqual(['draining.admitting', undefined])
  })

  test('when its own intent is refused', async () => {
    const drive = await checked()
    await drive.answer({ kind: 'stored' })
    expect(drive.state()).toBe('draining.writing')
    await drive.answer(REJECTED)
    await drive.answer(read(open))
    expect(claimed(drive)).toMatchObject(expected)
  })

  test('seen by the watch in the pause before another try', async () => {
    const drive = await checked()
    await drive.answer({ kind: 'stored' })
    await drive.answer(REJECTED)
    await drive.answer(read({ kind: 'none' }))
    drive.send({ type: 'observed', pod: PODS.before, stored: open })
    await drive.pass(250)
    expect(claimed(drive)).toMatchObject(expected)
  })
})
