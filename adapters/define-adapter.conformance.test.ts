import { describe, test } from 'vitest'
import { makeRestBed } from './conformance/beds/rest.ts'
import { describeAdapter } from './conformance/conformance.ts'
import { servers } from './conformance/examples/servers.ts'

describeAdapter({ describe, test }, 'an adapter by defineAdapter', ({ servers: count }) =>
  makeRestBed({ servers: count, create: (api) => servers.create(servers.options.parse(api), { name: 'edge' }) }),
)
