import assert from 'node:assert/strict'
import type { ConformanceCase } from '../conformance-case.ts'
import {
  assertApplied,
  assertDrained,
  assertFailed,
  begin,
  drainOne,
  effectCall,
  inspectOne,
  resolveAll,
  restoreOne,
  snapshotOne,
} from '../steps.ts'

export const effectCases = {
  'drain-and-restore': {
    title: 'drain takes out, restore puts back exactly the snapshot',
    async run(bed) {
      const { adapter, endpoint, target } = await begin(bed)
      const before = await snapshotOne(adapter, target)
      assert.equal(before.inRotation, true)
      assertApplied(await drainOne(adapter, target))
      assertDrained(await bed.oracle.admin(endpoint))
      const drained = await inspectOne(adapter, target)
      assertDrained(drained.admin)
      assert.equal(drained.routable, false)
      assertApplied(await restoreOne(adapter, target, before.prior))
      assert.equal(await bed.oracle.admin(endpoint), 'in')
      const restored = await inspectOne(adapter, target)
      assert.deepEqual([restored.admin, restored.routable], ['in', true])
      assert.deepEqual(await snapshotOne(adapter, target), before)
    },
  },
  'repeat-changes-nothing': {
    title: 'a repeated drain or restore changes nothing',
    async run(bed) {
      const { adapter, endpoint, target } = await begin(bed)
      const before = await snapshotOne(adapter, target)
      assertApplied(await drainOne(adapter, target))
      const drained = await snapshotOne(adapter, target)
      assertApplied(await drainOne(adapter, target))
      assert.deepEqual(await snapshotOne(adapter, target), drained)
      assertApplied(await restoreOne(adapter, target, before.prior))
      assertApplied(await restoreOne(adapter, target, before.prior))
      assert.deepEqual(await snapshotOne(adapter, target), before)
      assert.equal(await bed.oracle.admin(endpoint), 'in')
    },
  },
  'prior-weight-returns': {
    title: 'a weight that was set at run time comes back, also after a restart',
    needs: ['weights', 'restart'],
    async run(bed) {
      const { adapter, endpoint, target } = await begin(bed)
      await bed.operator.weight!(endpoint, 7)
      const before = await snapshotOne(adapter, target)
      assert.equal(before.weight, 7)
      assertApplied(await drainOne(adapter, target))
      if (adapter.capabilities.volatileOnReload) await bed.restart()
      assertApplied(await restoreOne(adapter, target, before.prior))
      assert.equal(await bed.oracle.weight!(endpoint), 7)
      assert.deepEqual(await snapshotOne(adapter, target), before)
    },
  },
  batch: {
    title: 'a batch of max is one call, max + 1 are two; a refused member does not stop the others',
    servers: (adapter) => adapter.capabilities.maxBatch + 1,
    needs: ['batches', 'wire'],
    async run(bed) {
      const adapter = bed.adapter()
      const { maxBatch: max } = adapter.capabilities
      const targets = await resolveAll(adapter, bed.endpoints.slice(0, max + 1))
      // Without maintenance in the load balancer, no effect on an existing target is refused.
      const refused = bed.operator.maint && bed.endpoints[1]
      if (refused !== undefined) await bed.operator.maint!(refused)
      const full = targets.slice(0, max)
      const first = await adapter.drain(full, effectCall(full))
      assert.equal(bed.wire.effectCalls(), 1)
      for (const [index, { id }] of full.entries()) {
        if (index === 1 && refused !== undefined) assertFailed(first.get(id), 'conflict')
        else assertApplied(first.get(id))
      }
      const rest = targets.slice(max)
      assertApplied((await adapter.drain(rest, effectCall(rest))).get(rest[0]!.id))
      assert.equal(bed.wire.effectCalls(), 2)
      if (refused !== undefined) assert.equal(await bed.oracle.admin(refused), 'out')
      const ends = [0, max - 1, max].map((index) => bed.endpoints[index]!).filter((endpoint) => endpoint !== refused)
      for (const endpoint of ends) assertDrained(await bed.oracle.admin(endpoint))
    },
  },
  'only-the-named': {
    title: 'the other targets of the scope keep their state and weight',
    needs: ['second-endpoint'],
    async run(bed) {
      const { adapter, target } = await begin(bed)
      const other = bed.endpoints[1]!
      const before = await snapshotOne(adapter, target)
      assertApplied(await drainOne(adapter, target))
      assert.equal(await bed.oracle.admin(other), 'in')
      await bed.operator.weight?.(other, 9)
      assertApplied(await restoreOne(adapter, target, before.prior))
      assert.equal(await bed.oracle.admin(other), 'in')
      if (bed.operator.weight) assert.equal(await bed.oracle.weight!(other), 9, 'an edit of another target survives')
    },
  },
  'ports-and-reuse': {
    title: 'one address with two ports is two targets; an address taken over by a new pod is the same target',
    readsOnly: true,
    needs: ['endpoint'],
    async run(bed) {
      const { adapter, endpoint, target } = await begin(bed)
      const [taken, elsewhere] = await adapter.resolve(
        [
          { ...endpoint, uid: 'uid-of-the-next-pod', pod: 'next' },
          { ...endpoint, port: endpoint.port === 1 ? 2 : 1 },
        ],
        effectCall([]),
      )
      assert.deepEqual(taken, { found: true, targets: [target] })
      assert.equal(elsewhere?.found, false)
      const all = await resolveAll(adapter, bed.endpoints)
      assert.equal(new Set(all.map(({ id }) => id)).size, bed.endpoints.length, 'target ids are unique')
      const next = bed.adapter()
      assert.deepEqual(await resolveAll(next, bed.endpoints), all, 'target ids are stable')
      // Otherwise sluice refuses to continue with a drained pod.
      assert.ok(
        [adapter, next].every((one) => all.every((known) => one.reaches?.(known) !== false)),
        'what one process has found is reached by the next',
      )
      const listed = new Set((await adapter.entries?.(effectCall([])))?.map(({ id }) => id))
      if (adapter.entries)
        assert.ok(
          all.every(({ id }) => listed.has(id)),
          'a list of all entries has what was found',
        )
    },
  },
  absent: {
    title: 'a target that is gone is not found, by every call, and harms no other',
    needs: ['absent'],
    async run(bed) {
      const gone = bed.absent!
      const { adapter, endpoint, target } = await begin(bed)
      const { prior } = await snapshotOne(adapter, target)
      const observation = await inspectOne(adapter, gone)
      assert.deepEqual([observation.admin, observation.routable], ['absent', false])
      assertFailed(await drainOne(adapter, gone), 'not-found')
      assertFailed(await restoreOne(adapter, gone, prior), 'not-found')
      const both = [gone, target]
      assertApplied((await adapter.drain(both, effectCall(both))).get(target.id))
      assertDrained(await bed.oracle.admin(endpoint))
    },
  },
  'not-found': {
    title: 'an address that it does not have is not found, and the reason names it',
    readsOnly: true,
    async run(bed) {
      // This network is reserved for documentation.
      const nowhere = { uid: 'uid-of-none', pod: 'none', address: '192.0.2.1', port: 80 }
      const [resolution] = await bed.adapter().resolve([nowhere], effectCall([]))
      assert.ok(resolution?.found === false && resolution.reason.includes('192.0.2.1'), 'the reason names the address')
    },
  },
  'reads-are-stable': {
    title: 'what is read twice without a change between is the same JSON, also by another process',
    readsOnly: true,
    needs: ['endpoint'],
    async run(bed) {
      const { adapter, target } = await begin(bed)
      const first = await snapshotOne(adapter, target)
      assert.deepEqual(await snapshotOne(adapter, target), first)
      assert.deepEqual(await snapshotOne(bed.adapter(), target), first)
    },
  },
  'lower-fence': {
    title: 'an effect of a former owner is refused',
    needs: ['fencing'],
    async run(bed) {
      const { adapter, endpoint, target } = await begin(bed)
      const { prior } = await snapshotOne(adapter, target)
      assertApplied(await drainOne(adapter, target, { fence: 2 }))
      assertFailed(await restoreOne(adapter, target, prior, { fence: 1 }), 'conflict')
      assertDrained(await bed.oracle.admin(endpoint))
    },
  },
} satisfies Record<string, ConformanceCase>
