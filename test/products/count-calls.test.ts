import { expect, test } from 'vitest'
import { makeNginxBed } from '../../adapters/conformance/beds/nginx.ts'
import { countCalls, oneByOne } from './count-calls.ts'
import { findProduct } from './find-product.ts'
import { describeOn } from './program.ts'

describeOn(await findProduct('nginx'), (program) => {
  test('500 servers, 120 drained at once: two reloads for what a call takes 100 of, and one for each where it takes one', async () => {
    const bed = await makeNginxBed({ servers: 500, program })
    try {
      const adapter = bed.adapter()
      expect(adapter.capabilities.maxBatch).toBe(100)
      expect(await countCalls(bed, adapter, 120)).toMatchObject({ drains: 2, restores: 2 })
      expect(await countCalls(bed, oneByOne(adapter), 5)).toMatchObject({ drains: 5, restores: 5 })
    } finally {
      await bed.close()
    }
  }, 60_000)
})
