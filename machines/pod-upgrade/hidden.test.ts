import { expect, test } from 'vitest'
import type { Because } from '../../src/reasons/fields.ts'
import type { Drive } from './testing/drive.ts'
import { createDrive } from './testing/drive.ts'
import { PODS } from './testing/explore.ts'
import { recorded, said, UNKNOWN } from './testing/recorded.ts'
import { TARGET } from './testing/world.ts'

/* A load balancer cannot be read, and its answer was lost: nothing is sent again, and an operator is asked. */

const HIDDEN = { state: 'unknown', hidden: true, inFlight: null, detail: said('edge/web-0 unknown') }

/** Drives the pod until the drain is called. */
async function draining(): Promise<Drive> {
  const drive = createDrive()
  drive.send({ type: 'start' })
  await drive.answer({ kind: 'taken', targets: [TARGET], address: '10.0.0.1' })
  await drive.answer({ kind: 'stored' })
  await drive.stored()
  expect(drive.calling()).toBe('effect')
  return drive
}

const end = ({ actor }: Drive) => {
  const { value, context } = actor.getSnapshot()
  return { value, outcome: context.outcome, reason: context.reason }
}
const asked = (effect: 'drain' | 'restore', why: Because = {}) => ({
  value: 'needsOperator',
  outcome: 'needsOperator',
  reason: { code: 'effect-in-doubt', entries: [{ loadBalancer: 'edge', target: 'web-0' }], effect, ...why },
})

test('a drain whose answer is lost', async () => {
  const drive = await draining()
  await drive.answer(UNKNOWN)
  await drive.pass(250)
  await drive.answer(HIDDEN)
  expect(end(drive)).toEqual(asked('drain', { because: UNKNOWN.reason }))
})

test('also where the run was interrupted meanwhile: a restore could be overtaken by the drain', async () => {
  const drive = await draining()
  drive.send({ type: 'interrupt' })
  await drive.answer(UNKNOWN)
  await drive.pass(250)
  await drive.answer(HIDDEN)
  expect(end(drive).value).toBe('needsOperator')
})

test.each(['drain', 'restore'] as const)('another process finds the %s intent', async (step) => {
  const drive = createDrive({ stored: recorded(step, { epoch: 1 }) })
  await drive.stored()
  expect(drive.calling()).toBe('inspect')
  expect(drive.input()).toMatchObject({ wasOut: false })
  await drive.answer(HIDDEN)
  expect(end(drive)).toEqual(asked(step))
})

test('another process finds it patched: that was done on the word of the load balancer', async () => {
  const drive = createDrive({ pod: PODS.asked, stored: recorded('patched', { epoch: 1 }) })
  await drive.stored()
  expect(drive.calling()).toBe('inspect')
  expect(drive.input()).toMatchObject({ wasOut: true })
})

test('the pod is gone', async () => {
  const drive = createDrive({ stored: recorded('drain', { epoch: 1 }), gone: true })
  await drive.answer(HIDDEN)
  expect(end(drive)).toEqual(asked('drain'))
})
