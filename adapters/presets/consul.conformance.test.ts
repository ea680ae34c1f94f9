/* Tests on a server that is rebuilt from the documentation of the product, not on the real product. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, test } from 'vitest'
import type { Adapter } from '../contract.ts'
import { makeDocumentedBed } from '../conformance/beds/documented.ts'
import { describeAdapter } from '../conformance/conformance.ts'
import { createConsul, SERVICE, TOKEN } from '../conformance/documented/consul.ts'
import { loadAdapter } from '../registry.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-consul-'))
const tokenFile = join(folder, 'token')
writeFileSync(tokenFile, TOKEN)
afterAll(() => rmSync(folder, { recursive: true }))

for (const name of ['consul', 'consul-catalog']) {
  const preset = await loadAdapter(name)
  // The agent of every node is the server of the bed.
  const agent = (url: string): object => (name === 'consul' ? { agentPort: Number(new URL(url).port) } : {})
  const create = (url: string, token?: object): Adapter => {
    const headers = token === undefined ? {} : { headers: { 'X-Consul-Token': token } }
    return preset.create(
      preset.options.parse({ url, service: SERVICE, capabilities: { settle: '10ms' }, ...agent(url), ...headers }),
      { name: 'edge' },
    )
  }
  describeAdapter({ describe, test }, `${name}, as documented`, ({ servers }) =>
    makeDocumentedBed({
      servers,
      product: createConsul,
      create: (url) => create(url, { file: tokenFile }),
      createPowerless: create,
      absent: { id: 'node-1/gone@127.0.0.1:1', scope: name === 'consul' ? 'node-1' : 'all' },
      isEffect: (head) => head.startsWith('PUT '),
    }),
  )
}
