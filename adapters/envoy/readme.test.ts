/** Tests the examples of the README on a real Envoy. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createLoadBalancers } from '../../src/config/create-load-balancers.ts'
import { loadConfig } from '../../src/config/load-config.ts'
import { findProduct } from '../../test/products/find-product.ts'
import { describeOn } from '../../test/products/program.ts'
import { findPort, startProduct } from '../conformance/beds/product-process.ts'
import { assertApplied, drainOne, inspectOne, resolveAll, restoreOne, snapshotOne } from '../conformance/steps.ts'

const readme = readFileSync(join(import.meta.dirname, 'README.md'), 'utf8')
const [config, bootstrap, eds] = [...readme.matchAll(/^```yaml\n(.*?)^```/gms)].map(([, text]) => text!)

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-envoy-readme-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

describeOn(await findProduct('envoy'), (program) => {
  test('drain and restore a pod', async () => {
    const port = await findPort()
    const write = (name: string, text: string): string => {
      const file = join(folder, name)
      writeFileSync(file, text.replaceAll('/etc/envoy', folder).replaceAll('9901', String(port)))
      return file
    }
    write('eds.yaml', eds!)
    const ask = async (path: string): Promise<string> => (await fetch(`http://127.0.0.1:${port}${path}`)).text()
    const [edge] = createLoadBalancers(
      await loadConfig(write('sluice.yaml', `apiVersion: sluice.dev/v1\nkind: Config\n${config}`)),
    )
    const envoy = await startProduct({
      name: 'Envoy',
      program,
      args: ['-c', write('envoy.yaml', bootstrap!), '--concurrency', '1', '--disable-hot-restart', '--log-level', 'warning'],
      isReady: async () => (await ask('/ready')).startsWith('LIVE'),
    })
    const { adapter } = edge!
    try {
      const [target] = await resolveAll(adapter, [{ uid: 'u', pod: 'web-0', address: '10.0.0.1', port: 8080 }])
      const { prior } = await snapshotOne(adapter, target!)
      assertApplied(await drainOne(adapter, target!))
      expect(await ask('/clusters')).toContain('web::10.0.0.1:8080::health_flags::/eds_status_draining')
      expect(await inspectOne(adapter, target!)).toMatchObject({ admin: 'draining', inFlight: 0 })
      assertApplied(await restoreOne(adapter, target!, prior))
      expect(await ask('/clusters')).toContain('web::10.0.0.1:8080::health_flags::healthy')
    } finally {
      await adapter.close()
      await envoy.stop()
    }
  })
})
