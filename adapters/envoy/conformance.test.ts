import { describe, expect, test } from 'vitest'
import { findProduct } from '../../test/products/find-product.ts'
import { describeOn } from '../../test/products/program.ts'
import { makeEnvoyBed } from '../conformance/beds/envoy.ts'
import type { CaseName } from '../conformance/cases/index.ts'
import { describeAdapter, runCase } from '../conformance/conformance.ts'

/** What differs where Envoy is not asked. */
const BY_FILE: CaseName[] = [
  'drain-and-restore',
  'no-new-requests',
  'in-flight',
  'operators-maint',
  'restart-keeps',
  'request-lost',
  'false-success',
]

describeOn(await findProduct('envoy'), (program) => {
  describeAdapter({ describe, test }, 'envoy', ({ servers }) => makeEnvoyBed({ servers, program, asks: 'admin' }))

  test.each(BY_FILE)('envoy, by the file alone: %s', async (name) => {
    expect(await runCase(name, ({ servers }) => makeEnvoyBed({ servers, program, asks: 'file' }))).toEqual({ outcome: 'passed' })
  })
})
