import assert from 'node:assert/strict'
import type { ConformanceCase } from '../conformance-case.ts'
import { assertApplied, assertFailed, begin, drainOne, inspectOne, restoreOne, snapshotOne } from '../steps.ts'

export const operatorCases = {
  'operators-maint': {
    title: 'a target in maintenance is not in rotation, and neither drain nor restore ends that',
    needs: ['maintenance'],
    async run(bed) {
      const { adapter, endpoint, target } = await begin(bed)
      await bed.operator.maint!(endpoint)
      const before = await snapshotOne(adapter, target)
      assert.equal(before.inRotation, false)
      const observation = await inspectOne(adapter, target)
      assert.deepEqual([observation.admin, observation.routable], ['out', false])
      assertFailed(await drainOne(adapter, target), 'conflict')
      assert.equal(await bed.oracle.admin(endpoint), 'out')
      assertApplied(await restoreOne(adapter, target, before.prior))
      assert.equal(await bed.oracle.admin(endpoint), 'out')
      assert.deepEqual(await snapshotOne(adapter, target), before)
    },
  },
  'maint-comes-back': {
    title: 'a restore puts back maintenance that is gone by now',
    needs: ['maintenance'],
    async run(bed) {
      const { adapter, endpoint, target } = await begin(bed)
      await bed.operator.maint!(endpoint)
      const before = await snapshotOne(adapter, target)
      await bed.operator.ready(endpoint)
      assertApplied(await restoreOne(adapter, target, before.prior))
      assert.equal(await bed.oracle.admin(endpoint), 'out')
      assert.deepEqual(await snapshotOne(adapter, target), before)
    },
  },
  'maint-meanwhile': {
    title: 'maintenance that began after the drain is not ended by the restore',
    needs: ['maintenance'],
    async run(bed) {
      const { adapter, endpoint, target } = await begin(bed)
      const before = await snapshotOne(adapter, target)
      assertApplied(await drainOne(adapter, target))
      await bed.operator.maint!(endpoint)
      assertFailed(await restoreOne(adapter, target, before.prior), 'conflict')
      assert.equal(await bed.oracle.admin(endpoint), 'out')
    },
  },
  'operators-drain': {
    title: 'a target that an operator has drained is not in rotation, and stays so after the restore',
    async run(bed) {
      const { adapter, endpoint, target } = await begin(bed)
      await bed.operator.drain(endpoint)
      const before = await snapshotOne(adapter, target)
      assert.equal(before.inRotation, false)
      assertApplied(await drainOne(adapter, target))
      assertApplied(await restoreOne(adapter, target, before.prior))
      assert.equal(await bed.oracle.admin(endpoint), 'draining')
      assert.deepEqual(await snapshotOne(adapter, target), before)
    },
  },
  'weight-0': {
    title: 'weight 0 is not in rotation',
    needs: ['weight-0'],
    async run(bed) {
      const { adapter, endpoint, target } = await begin(bed)
      await bed.operator.weight!(endpoint, 0)
      assert.equal((await snapshotOne(adapter, target)).inRotation, false)
      const observation = await inspectOne(adapter, target)
      assert.deepEqual([observation.routable, observation.weight], [false, 0])
    },
  },
} satisfies Record<string, ConformanceCase>
