/* The conformance kit under node:test, for an adapter that is made outside of the repository. */
import { describe, test } from 'node:test'
import { describeAdapter, makeRestBed } from 'sluice/testing'
import { servers } from './servers.ts'

describeAdapter({ describe, test }, 'servers', ({ servers: count }) =>
  makeRestBed({ servers: count, create: (api) => servers.create(servers.options.parse(api), { name: 'edge' }) }),
)
