import { describe, test } from 'vitest'
import { makeHaproxyBed } from '../conformance/beds/haproxy.ts'
import { whyNoHaproxy } from '../conformance/beds/haproxy-process.ts'
import { describeAdapter } from '../conformance/conformance.ts'

const missing = whyNoHaproxy()

describe.skipIf(missing !== undefined)(`on a real HAProxy${missing === undefined ? '' : `: ${missing}`}`, () => {
  describeAdapter({ describe, test }, 'haproxy', makeHaproxyBed)
})
