import { expect, test } from 'vitest'
import type { Drive } from './testing/drive.ts'
import { createDrive, DEADLINES, DELAYS } from './testing/drive.ts'
import { PODS } from './testing/explore.ts'
import { OUT, recorded, said, UNKNOWN } from './testing/recorded.ts'
import { TARGET } from './testing/world.ts'

/* The entry is missing, and no drain before is known: the entry was removed, or its load balancer is starting. */

const NOT_THERE = { state: 'mixed', removed: true, inFlight: null, detail: said('edge/web-0 absent') }
const MISSING = { kind: 'retryable', reason: said('there is no entry web-0 any more') }

async function drainInDoubt(): Promise<Drive> {
  const drive = createDrive()
  drive.send({ type: 'start' })
  await drive.answer({ kind: 'taken', targets: [TARGET], address: '10.0.0.1' })
  await drive.answer({ kind: 'stored' })
  await drive.stored()
  await drive.answer(UNKNOWN)
  await drive.pass(DELAYS.retry)
  await drive.answer(NOT_THERE)
  return drive
}

const end = ({ actor }: Drive) => {
  const { value, context } = actor.getSnapshot()
  return { value, outcome: context.outcome, deadline: context.deadline, reason: context.reason }
}

test('after a drain that nobody has answered: it is drained again, and not patched', async () => {
  const drive = await drainInDoubt()
  expect([drive.state(), drive.calling()]).toEqual(['draining.calling', 'effect'])
  await drive.answer({ kind: 'applied' })
  expect(drive.state()).toBe('emptying.settling')
})

test('where it is removed indeed, the drain is refused, and the restore is tried until its deadline: a person is asked', async () => {
  const drive = await drainInDoubt()
  await drive.answer({ kind: 'refused', reason: said('there is no entry web-0 any more') })
  expect(drive.state()).toBe('readmitting.writing')
  await drive.stored()
  let restores = 0
  for (let passed = 0; passed < DEADLINES.restoreDeadline + 1_000; passed += 50) {
    if (drive.calling() === 'effect') {
      restores++
      await drive.answer(MISSING)
    } else if (drive.calling() === 'inspect') await drive.answer(NOT_THERE)
    await drive.pass(50)
  }
  expect(restores).toBeGreaterThan(100)
  expect(end(drive)).toEqual({
    value: 'needsOperator',
    outcome: 'needsOperator',
    deadline: 'restore',
    reason: { code: 'restore-not-confirmed', because: MISSING.reason },
  })
})

test('of a pod that is gone there is nothing to put back', async () => {
  const drive = createDrive({ gone: true, targets: [TARGET] })
  await drive.answer(NOT_THERE)
  expect(drive.calling()).toBe('settle')
  await drive.answer({ kind: 'stored' })
  expect(end(drive)).toMatchObject({
    value: 'done',
    outcome: 'settled',
    reason: { code: 'settled-by-removal' },
  })
})

test('a restore that meets a load balancer which is just coming up is sent again, and the pod is home', async () => {
  const drive = createDrive({ stored: recorded('restore'), pod: PODS.ready })
  await drive.answer(OUT)
  await drive.answer(MISSING)
  await drive.pass(DELAYS.retry)
  await drive.answer(OUT)
  expect([drive.state(), drive.calling()]).toEqual(['restoring.calling', 'effect'])
  await drive.answer({ kind: 'applied' })
  expect(drive.state()).toBe('verifying.comparing')
})
