import { expect, test } from 'vitest'
import { listLedgers } from '../../src/engine/ledgers/list-ledgers.ts'
import { LEASE_DURATION_MS, leaseName, RENEW_EVERY_MS } from '../../src/engine/leases/lease.ts'
import { readLease } from '../../src/engine/leases/read-lease.ts'
import { NAME, NAMESPACE } from './manifests.ts'
import { plainScene } from './scene.ts'
import type { Actor, Stage } from './stage.ts'
import { openStage } from './stage.ts'
import { outcomeOf, upgradeTo } from './story.ts'

/*
 * Found by chaos (seed 132531, api-restart 10): the API server was being restarted when the last pod had come to its end. The run was
 * done, exit 0, and its ledger open, with one warning.
 */

const REQUEST = upgradeTo('v2')

/** Away as soon as the last pod is at its end. */
async function awayFor(stage: Stage, ms: number): Promise<Actor> {
  const actor = stage.start(REQUEST)
  await stage.until(() => actor.events.some(({ type }) => type === 'podFinished'))
  stage.stopApiServer(ms)
  expect(await outcomeOf(stage, actor)).toBe('done')
  return actor
}

async function recordOf({ ask, client }: Stage) {
  const [found, ...others] = await ask(listLedgers(client, NAMESPACE))
  const lease = await ask(readLease(client, NAMESPACE, leaseName({ kind: 'StatefulSet', name: NAME })))
  expect(others).toEqual([])
  if (found?.kind !== 'read') throw new Error('the ledger cannot be read')
  const { header, entries } = found.ledger
  const told = Array.from(entries.values(), ({ accounts }) => accounts?.length)
  return { isOver: header.finishedAt !== undefined, processes: header.accounts?.length, told, holder: lease?.holder }
}

const warnings = ({ events }: Actor): string[] => events.flatMap((event) => (event.type === 'warning' ? [event.message] : []))
const UNCLOSED = expect.stringMatching(/^the ledger could not be closed: /)

test('an API server that is away when the last pod is at its end is waited for: the run is over, told once, and its Lease given back', async () => {
  const stage = await openStage(plainScene({ pods: 1 }))
  const actor = await awayFor(stage, 8_000)
  expect(await recordOf(stage)).toEqual({ isOver: true, processes: 1, told: [1], holder: '' })
  expect(warnings(actor)).not.toContainEqual(UNCLOSED)
})

test('as long as the Lease lives: away for longer, the run stays open, with a warning, and the same command closes it', async () => {
  const stage = await openStage(plainScene({ pods: 1 }))
  const actor = await awayFor(stage, LEASE_DURATION_MS + RENEW_EVERY_MS)
  expect(warnings(actor)).toContainEqual(UNCLOSED)
  await stage.pass(LEASE_DURATION_MS)
  expect(await recordOf(stage)).toMatchObject({ isOver: false })
  expect(await outcomeOf(stage, stage.start(REQUEST))).toBe('done')
  expect(await recordOf(stage)).toMatchObject({ isOver: true, processes: 1, holder: '' })
})

test('whoever is interrupted meanwhile waits no more', async () => {
  const stage = await openStage(plainScene({ pods: 1 }))
  const actor = stage.start(REQUEST)
  await stage.until(() => actor.events.some(({ type }) => type === 'podFinished'))
  stage.stopApiServer(60_000)
  await stage.pass(2_000)
  expect(actor.end).toBeUndefined()
  actor.interrupt()
  await stage.pass(6_000)
  expect(actor.end).toBeDefined()
})
