import { describe, test } from 'vitest'
import { describeOnEachHaproxy } from '../../test/haproxy/versions.ts'
import { makeHaproxyBed } from '../conformance/beds/haproxy.ts'
import { describeAdapter } from '../conformance/conformance.ts'

await describeOnEachHaproxy((program) => {
  describeAdapter({ describe, test }, 'haproxy', ({ servers }) => makeHaproxyBed({ servers, program }))
})
