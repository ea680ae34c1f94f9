import { describe, expect, test } from 'vitest'
import { findProduct } from '../../test/products/find-product.ts'
import { describeOn } from '../../test/products/program.ts'
import { BY_SOURCE, makeEnvoyBed } from '../conformance/beds/envoy.ts'
import { describeAdapter, runCase } from '../conformance/conformance.ts'

describeOn(await findProduct('envoy'), (program) => {
  describeAdapter({ describe, test }, 'envoy', ({ servers }) => makeEnvoyBed({ servers, program, asks: 'admin' }))

  test.each(BY_SOURCE)('envoy, by the file alone: %s', async (name) => {
    expect(await runCase(name, ({ servers }) => makeEnvoyBed({ servers, program, asks: 'file' }))).toEqual({ outcome: 'passed' })
  })
})
