import { expect, test } from 'vitest'
import { createVirtualClock } from '../kube/testing/virtual-clock.ts'
import { createLeaseServer } from '../engine/testing/lease-server.ts'
import { LEASE_DURATION_MS } from './lease.ts'
import { readLeasePatiently } from './read-lease.ts'

const NAME = 'sluice-statefulset-web'

/** Reads the Lease while a new API server forbids all requests for `forbidsForMs` milliseconds. */
function readAfter(forbidsForMs: number) {
  const clock = createVirtualClock()
  const server = createLeaseServer()
  server.write({ holderIdentity: 'owner', leaseTransitions: 3 })
  const from = clock.now()
  server.fault = () => (clock.now() - from < forbidsForMs ? 'begun' : undefined)
  const reading = readLeasePatiently({ client: server.client, clock, namespace: 'shop', name: NAME }).then(
    (lease) => ({ holder: lease?.holder, afterMs: clock.now() - from }),
    (error: Error) => ({ error: error.message, afterMs: clock.now() - from }),
  )
  return { clock, reading }
}

test('an API server that has just begun is waited for', async () => {
  const { clock, reading } = readAfter(600)
  await clock.advance(1_000)
  expect(await reading).toEqual({ holder: 'owner', afterMs: 1_000 })
})

test('for no longer than a Lease lives: whoever asks may have no right to it', async () => {
  const { clock, reading } = readAfter(Infinity)
  await clock.advance(2 * LEASE_DURATION_MS)
  expect(await reading).toEqual({
    error: expect.stringContaining(' cannot get resource '),
    afterMs: LEASE_DURATION_MS + 1_000,
  })
})
