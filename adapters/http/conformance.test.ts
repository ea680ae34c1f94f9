import { describe, test } from 'vitest'
import { makeHttpBed } from '../conformance/beds/http.ts'
import { describeAdapter } from '../conformance/conformance.ts'

describeAdapter({ describe, test }, 'http, reading the list', (options) => makeHttpBed({ ...options, reads: 'list' }))
describeAdapter({ describe, test }, 'http, reading one by one', (options) => makeHttpBed({ ...options, reads: 'one' }))
