/** Tests the examples of the README on a real Traefik. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
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
const [config, fixed, dynamic] = [...readme.matchAll(/^```yaml\n(.*?)^```/gms)].map(([, text]) => text!)

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-traefik-readme-'))
  mkdirSync(join(folder, 'dynamic'))
})
afterEach(() => rmSync(folder, { recursive: true }))

describeOn(await findProduct('traefik'), (program) => {
  test('drain and restore a pod', async () => {
    const [port, front] = [await findPort(), await findPort()]
    const write = (name: string, text: string): string => {
      const file = join(folder, name)
      const moved = text.replaceAll('/etc/traefik', folder).replaceAll('127.0.0.1:8080', `127.0.0.1:${port}`)
      writeFileSync(file, moved.replace('":80"', `"127.0.0.1:${front}"`))
      return file
    }
    write('dynamic/web.yaml', dynamic!)
    const weights = async (): Promise<unknown[]> => {
      const answer = await fetch(`http://127.0.0.1:${port}/api/http/services/web@file`)
      const page = (await answer.json()) as { loadBalancer: { servers: { weight?: number }[] } }
      return page.loadBalancer.servers.map(({ weight }) => weight)
    }
    const [edge] = createLoadBalancers(
      await loadConfig(write('sluice.yaml', `apiVersion: sluice.dev/v1\nkind: Config\n${config}`)),
    )
    const traefik = await startProduct({
      name: 'Traefik',
      program,
      args: [`--configFile=${write('traefik.yaml', fixed!)}`],
      isReady: async () => (await weights()).length === 2,
    })
    const { adapter } = edge!
    try {
      const [target] = await resolveAll(adapter, [{ uid: 'u', pod: 'web-0', address: '10.0.0.1', port: 8080 }])
      const { prior } = await snapshotOne(adapter, target!)
      assertApplied(await drainOne(adapter, target!))
      expect(await weights()).toEqual([0, undefined])
      expect(await inspectOne(adapter, target!)).toMatchObject({ admin: 'draining', inFlight: null })
      assertApplied(await restoreOne(adapter, target!, prior))
      expect(await weights()).toEqual([undefined, undefined])
    } finally {
      await adapter.close()
      await traefik.stop()
    }
  })
})
