import assert from 'node:assert/strict'
import type { ConformanceCase } from '../conformance-case.ts'
import {
  assertApplied,
  assertDrained,
  begin,
  drainOne,
  eventually,
  inspectOne,
  pause,
  resolveAll,
  restoreOne,
  sample,
  snapshotOne,
} from '../steps.ts'

/** With round robin over three pods, this number of requests certainly reaches each pod in rotation. */
const ENOUGH = 30

export const trafficCases = {
  'no-new-requests': {
    title: 'after a drain and its settle time no new request arrives; after the restore they do again',
    needs: ['traffic'],
    async run(bed) {
      const { adapter, endpoint, target } = await begin(bed)
      const { prior } = await snapshotOne(adapter, target)
      const all = bed.endpoints.slice(0, 3).map(({ uid }) => uid)
      assert.deepEqual(await sample(bed, ENOUGH), new Set(all))
      assertApplied(await drainOne(adapter, target))
      await pause(adapter.capabilities.settleMs)
      assert.deepEqual(await sample(bed, ENOUGH), new Set(all.filter((uid) => uid !== endpoint.uid)))
      assertApplied(await restoreOne(adapter, target, prior))
      await eventually(async () => (await bed.traffic.request()) === endpoint.uid, 'requests reach it again')
    },
  },
  'in-flight': {
    title: 'a request under way survives the drain and is counted until it ends; what cannot be counted is null',
    needs: ['traffic'],
    async run(bed) {
      const adapter = bed.adapter()
      const held = await bed.traffic.hold()
      const [target] = await resolveAll(
        adapter,
        bed.endpoints.filter(({ uid }) => uid === held.uid),
      )
      assertApplied(await drainOne(adapter, target!))
      const { inFlight } = await inspectOne(adapter, target!)
      assert.equal(inFlight, adapter.capabilities.inFlight === 'none' ? null : 1)
      assert.equal(await held.release(), true, 'the client got its answer')
      if (inFlight === null) return
      await eventually(async () => (await inspectOne(adapter, target!)).inFlight === 0, 'in flight 0')
    },
  },
  'others-undisturbed': {
    title: 'requests under way on other targets survive a drain and a restore',
    needs: ['traffic', 'undisturbed'],
    async run(bed) {
      const adapter = bed.adapter()
      const held = await bed.traffic.hold()
      const [target] = await resolveAll(
        adapter,
        bed.endpoints.filter(({ uid }) => uid !== held.uid),
      )
      const { prior } = await snapshotOne(adapter, target!)
      assertApplied(await drainOne(adapter, target!))
      assertApplied(await restoreOne(adapter, target!, prior))
      assert.equal(await held.release(), true)
    },
  },
  'keep-alive': {
    title: 'a client with a kept connection moves away',
    needs: ['keep-alive'],
    async run(bed) {
      const client = await bed.traffic.keepAlive!()
      try {
        const adapter = bed.adapter()
        const uid = await client.request()
        const [target] = await resolveAll(
          adapter,
          bed.endpoints.filter((endpoint) => endpoint.uid === uid),
        )
        assertApplied(await drainOne(adapter, target!))
        await pause(adapter.capabilities.settleMs)
        for (let sent = 0; sent < ENOUGH; sent += 1) assert.notEqual(await client.request(), uid)
      } finally {
        client.close()
      }
    },
  },
  'restart-is-seen': {
    title: 'what a restart of the load balancer forgot shows in the state',
    needs: ['restart', 'forgets'],
    async run(bed) {
      const { adapter, endpoint, target } = await begin(bed)
      assertApplied(await drainOne(adapter, target))
      assertDrained((await inspectOne(adapter, target)).admin)
      await bed.restart()
      assert.equal((await inspectOne(adapter, target)).admin, 'in')
      assert.equal(await bed.oracle.admin(endpoint), 'in')
      assertApplied(await drainOne(adapter, target))
      assertDrained(await bed.oracle.admin(endpoint))
    },
  },
  'restart-keeps': {
    title: 'a restart of the load balancer forgets nothing',
    needs: ['restart', 'keeps'],
    async run(bed) {
      const { adapter, endpoint, target } = await begin(bed)
      const { prior } = await snapshotOne(adapter, target)
      assertApplied(await drainOne(adapter, target))
      await bed.restart()
      assertDrained((await inspectOne(adapter, target)).admin)
      assertDrained(await bed.oracle.admin(endpoint))
      assertApplied(await restoreOne(adapter, target, prior))
      assert.equal(await bed.oracle.admin(endpoint), 'in')
    },
  },
  'failing-health': {
    title: 'a restored target that fails its health checks is not routable and gets no request',
    needs: ['traffic', 'health-checks'],
    async run(bed) {
      const { adapter, endpoint, target } = await begin(bed)
      const { prior } = await snapshotOne(adapter, target)
      assertApplied(await drainOne(adapter, target))
      await bed.breakHealth!(endpoint)
      assertApplied(await restoreOne(adapter, target, prior))
      const others = bed.endpoints.slice(1, 3).map(({ uid }) => uid)
      assert.deepEqual(await sample(bed, ENOUGH), new Set(others))
      const { admin, routable } = await inspectOne(adapter, target)
      assert.deepEqual([admin, routable], ['in', false])
    },
  },
} satisfies Record<string, ConformanceCase>
