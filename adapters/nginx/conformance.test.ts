import { describe, test } from 'vitest'
import { describeOnEachNginx } from '../../test/products/nginx.ts'
import { makeNginxBed } from '../conformance/beds/nginx.ts'
import { describeAdapter } from '../conformance/conformance.ts'

await describeOnEachNginx((program) => {
  describeAdapter({ describe, test }, 'nginx', ({ servers }) => makeNginxBed({ servers, program }))
})
