import { expect, test } from 'vitest'
import type { KubeErrorFields } from '../../kube/errors.ts'
import { KubeError } from '../../kube/errors.ts'
import { createVirtualClock } from '../../kube/testing/virtual-clock.ts'
import { RunError } from '../errors.ts'
import { LEASE_DURATION_MS } from '../../leases/lease.ts'
import { untilAnswered } from './until-answered.ts'

function failure(fields: Pick<KubeErrorFields, 'kind' | 'status'>, message = 'failed'): KubeError {
  return new KubeError(message, { method: 'PATCH', path: '/x', ...fields })
}

/** The number of tries, and their end, where `failures` of the tries fail with `error`. */
async function tried(error: Error, { failures = Number.POSITIVE_INFINITY, interruptedAfterMs = 60_000 } = {}) {
  const clock = createVirtualClock()
  const stopping = new AbortController()
  const interrupt = clock.setTimeout(() => stopping.abort(), interruptedAfterMs)
  const beganAt = clock.now()
  let tries = 0
  const work = async (): Promise<string> => {
    tries += 1
    if (tries <= failures) throw error
    return 'written'
  }
  let end: unknown
  async function follow(): Promise<void> {
    try {
      end = await untilAnswered(work, { clock, signal: stopping.signal })
    } catch (last) {
      end = last
    }
  }
  void follow()
  await clock.runUntil(() => end !== undefined)
  clock.clearTimeout(interrupt)
  expect(clock.pending()).toBe(0)
  return { tries, end, tookMs: clock.now() - beganAt }
}

test.each<[string, Error]>([
  ['no byte left', failure({ kind: 'definite' })],
  ['no trustworthy answer', failure({ kind: 'ambiguous', status: 500 })],
  ['too many requests', failure({ kind: 'throttled', status: 429 })],
  [
    'rights that are not known yet',
    failure({ kind: 'definite', status: 403 }, 'x is forbidden: User "ci" cannot patch resource "x"'),
  ],
  ['a Lease of which nobody can say', new RunError('deadline', { code: 'lease-not-renewed' })],
])('what passes is tried again, for less than a Lease lives: %s', async (_, error) => {
  expect(await tried(error, { failures: 3 })).toMatchObject({ tries: 4, end: 'written' })
  const inVain = await tried(error)
  expect(inVain.end).toBe(error)
  expect(inVain.tries).toBeGreaterThan(4)
  expect(inVain.tookMs).toBeLessThan(LEASE_DURATION_MS)
})

test.each<[string, Error]>([
  ['a refusal', failure({ kind: 'definite', status: 422 })],
  ['a refusal by admission', failure({ kind: 'definite', status: 403 }, 'admission webhook "x" denied the request')],
  ['a conflict', failure({ kind: 'conflict', status: 409 })],
  ['a Lease that is lost', new RunError('conflict', { code: 'lease-lost' })],
])('what stays is not: %s', async (_, error) => {
  expect(await tried(error)).toEqual({ tries: 1, end: error, tookMs: 0 })
})

test('an interrupt ends it at once', async () => {
  const error = failure({ kind: 'definite' })
  expect(await tried(error, { interruptedAfterMs: 1_500 })).toEqual({ tries: 2, end: error, tookMs: 1_500 })
})
