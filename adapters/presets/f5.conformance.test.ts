/* Tests on a server that is rebuilt from the documentation of the product, not on the real product. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, test } from 'vitest'
import type { Adapter } from '../contract.ts'
import { makeDocumentedBed } from '../conformance/beds/documented.ts'
import { describeAdapter } from '../conformance/conformance.ts'
import { createF5, PASSWORD, POOL } from '../conformance/documented/f5.ts'
import { loadAdapter } from '../registry.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-f5-'))
const file = join(folder, 'password')
writeFileSync(file, PASSWORD)
afterAll(() => rmSync(folder, { recursive: true }))

const f5 = await loadAdapter('f5')

function create(url: string, username: string): Adapter {
  const options = { url, pool: POOL, username, password: { file }, capabilities: { settle: '10ms' } }
  return f5.create(f5.options.parse(options), { name: 'edge' })
}

describeAdapter({ describe, test }, 'f5, as documented', ({ servers }) =>
  makeDocumentedBed({
    servers,
    product: createF5,
    create: (url) => create(url, 'sluice'),
    createPowerless: (url) => create(url, 'guest'),
    absent: { id: '/Common/10.0.0.1:1@127.0.0.1:1', scope: 'all' },
    isEffect: (head) => head.startsWith('PATCH '),
  }),
)
