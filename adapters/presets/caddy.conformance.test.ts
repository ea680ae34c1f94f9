import { describe, test } from 'vitest'
import { findProduct } from '../../test/products/find-product.ts'
import { describeOn } from '../../test/products/program.ts'
import { makeCaddyBed } from '../conformance/beds/caddy.ts'
import { describeAdapter } from '../conformance/conformance.ts'

describeOn(await findProduct('caddy'), (program) => {
  describeAdapter({ describe, test }, 'caddy', ({ servers }) => makeCaddyBed({ servers, program }))
})
