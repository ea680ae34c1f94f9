import { describe, expect, test } from 'vitest'
import { findProduct } from '../../test/products/find-product.ts'
import { describeOn } from '../../test/products/program.ts'
import { makeTraefikBed } from '../conformance/beds/traefik.ts'
import type { CaseName } from '../conformance/cases/index.ts'
import { describeAdapter, runCase } from '../conformance/conformance.ts'

/** The cases whose result differs if the adapter does not ask Traefik. */
const BY_FILE: CaseName[] = ['no-new-requests', 'in-flight', 'restart-keeps', 'request-lost']

describeOn(await findProduct('traefik'), (program) => {
  describeAdapter({ describe, test }, 'traefik', ({ servers }) => makeTraefikBed({ servers, program, asks: 'api' }))

  test.each(BY_FILE)('traefik, by the file alone: %s', async (name) => {
    expect(await runCase(name, ({ servers }) => makeTraefikBed({ servers, program, asks: 'file' }))).toEqual({
      outcome: 'passed',
    })
  })
})
