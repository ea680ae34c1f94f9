import assert from 'node:assert/strict'
import type { AdapterErrorKind } from '../../contract.ts'
import type { WireFault } from '../bed.ts'
import type { ConformanceCase } from '../conformance-case.ts'
import {
  assertApplied,
  assertDrained,
  assertFailed,
  begin,
  drainOne,
  inspectOne,
  pause,
  restoreOne,
  shortDeadlineMs,
  snapshotOne,
} from '../steps.ts'

class LostOwnership extends Error {}

/**
 * Sends a drain and a restore that meet the fault once each. Checks the error of the adapter, the state of the load balancer, and the
 * number of calls that were sent.
 */
function fault(wireFault: WireFault, said: AdapterErrorKind, world: 'in' | 'drained', sent: 0 | 1): ConformanceCase['run'] {
  return async (bed) => {
    const { adapter, endpoint, target } = await begin(bed)
    const deadlineMs = shortDeadlineMs(bed)
    const { prior } = await snapshotOne(adapter, target)
    bed.wire.next(wireFault)
    assertFailed(await drainOne(adapter, target, { deadlineMs }), said)
    bed.wire.heal()
    assert.equal(bed.wire.effectCalls(), sent, 'effects sent')
    const admin = await bed.oracle.admin(endpoint)
    if (world === 'in') assert.equal(admin, 'in')
    else assertDrained(admin)
    assert.equal((await inspectOne(adapter, target)).admin, admin, 'the read-back tells which')
    assertApplied(await drainOne(adapter, target))
    bed.wire.next(wireFault)
    assertFailed(await restoreOne(adapter, target, prior, { deadlineMs }), said)
    bed.wire.heal()
    assertApplied(await restoreOne(adapter, target, prior))
    assert.equal(await bed.oracle.admin(endpoint), 'in')
  }
}

export const faultCases = {
  refused: {
    title: 'no connection: retryable, nothing changed',
    needs: ['wire'],
    run: fault('refused', 'retryable', 'in', 0),
  },
  'cut-before-effect': {
    title: 'a connection that breaks before the effect is sent: retryable, nothing changed',
    needs: ['wire'],
    run: fault('cut-before-effect', 'retryable', 'in', 0),
  },
  'request-lost': {
    title: 'an effect that is lost on its way: ambiguous, and not sent again',
    needs: ['wire'],
    run: fault('request-lost', 'ambiguous', 'in', 1),
  },
  'reply-lost': {
    title: 'an effect whose answer is lost: ambiguous, and not sent again',
    needs: ['wire'],
    run: fault('reply-lost', 'ambiguous', 'drained', 1),
  },
  'no-answer': {
    title: 'an effect without an answer is cut at the deadline: ambiguous',
    needs: ['wire'],
    run: fault('no-answer', 'ambiguous', 'drained', 1),
  },
  'false-success': {
    title: 'a false success is seen by the inspection that follows',
    needs: ['wire'],
    async run(bed) {
      const { adapter, endpoint, target } = await begin(bed)
      bed.wire.next('false-success')
      await drainOne(adapter, target)
      assert.equal(await bed.oracle.admin(endpoint), 'in')
      const { admin, routable } = await inspectOne(adapter, target)
      assert.deepEqual([admin, routable], ['in', true])
    },
  },
  'lost-ownership': {
    title: 'assertLive is asked right before the bytes leave: its error goes out as it is, and nothing is sent',
    needs: ['wire'],
    async run(bed) {
      const { adapter, endpoint, target } = await begin(bed)
      const { prior } = await snapshotOne(adapter, target)
      const lost = new LostOwnership('another process owns this run')
      const assertLive = () => {
        throw lost
      }
      await assert.rejects(drainOne(adapter, target, { assertLive }), lost)
      assert.equal(bed.wire.effectCalls(), 0)
      assert.equal(await bed.oracle.admin(endpoint), 'in')
      assertApplied(await drainOne(adapter, target))
      await assert.rejects(restoreOne(adapter, target, prior, { assertLive }), lost)
      assertDrained(await bed.oracle.admin(endpoint))
      assert.equal(bed.wire.effectCalls(), 1)
    },
  },
  'no-permission': {
    title: 'missing rights are fatal, and the message says what to change',
    needs: ['rights'],
    async run(bed) {
      const { endpoint, target } = await begin(bed)
      const result = await drainOne(bed.powerless!(), target)
      assertFailed(result, 'fatal')
      assert.equal(await bed.oracle.admin(endpoint), 'in')
    },
  },
  'close-ends-calls': {
    title: 'close ends a call that is under way, as ambiguous, and later calls as retryable',
    needs: ['wire'],
    async run(bed) {
      const { adapter, target } = await begin(bed)
      bed.wire.next('no-answer')
      const sentBefore = bed.wire.effectCalls()
      const over = new AbortController()
      const drained = drainOne(adapter, target).finally(() => over.abort())
      while (bed.wire.effectCalls() === sentBefore && !over.signal.aborted) await pause(1)
      assert.ok(bed.wire.effectCalls() > sentBefore, 'the drain is sent')
      await adapter.close()
      assertFailed(await drained, 'ambiguous')
      assertFailed(await drainOne(adapter, target), 'retryable')
    },
  },
} satisfies Record<string, ConformanceCase>
