/** Tests the objects of the README with its config and its rights on a real API server. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { createLoadBalancers } from '../../src/config/create-load-balancers.ts'
import { loadConfig } from '../../src/config/load-config.ts'
import { chosenVersion } from '../../test/cluster/kubernetes-versions.ts'
import { findKubernetes } from '../../test/products/kubernetes.ts'
import { describeOn } from '../../test/products/program.ts'
import { startKubernetes } from '../conformance/beds/kubernetes-process.ts'
import type { SliceObject } from '../conformance/beds/slice-front.ts'
import { assertApplied, drainOne, resolveAll, restoreOne, snapshotOne } from '../conformance/steps.ts'
import { endpointsliceOptions } from './options.ts'
import { readmeObject, readmeRules, readmeText, readmeYaml } from './testing/readme.ts'

test('each option has its row', () => {
  const [table = ''] = /^\| option \|.*?\n\n/ms.exec(readmeText) ?? []
  const rows = [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name!)
  expect(rows.toSorted()).toEqual(Object.keys(endpointsliceOptions.shape).toSorted())
})

describeOn(await findKubernetes(chosenVersion()), (programs) => {
  test('the Service, its slice, the config and the Role work as they stand, and a drain looks as is shown', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-endpointslice-readme-'))
    const kubernetes = await startKubernetes({ programs, rules: readmeRules() })
    try {
      const shop = '/namespaces/shop'
      await kubernetes.ask('POST', '/api/v1/namespaces', { metadata: { name: 'shop' } })
      await kubernetes.ask('POST', `/api/v1${shop}/services`, readmeObject('Service'))
      await kubernetes.ask('POST', `/apis/discovery.k8s.io/v1${shop}/endpointslices`, readmeObject('EndpointSlice'))
      await kubernetes.ask('POST', `/apis/rbac.authorization.k8s.io/v1${shop}/roles`, readmeObject('Role'))
      const read = async (): Promise<SliceObject> =>
        (await kubernetes.ask('GET', `/apis/discovery.k8s.io/v1${shop}/endpointslices/web-1`)) as SliceObject
      const before = await read()

      writeFileSync(join(folder, 'edge.kubeconfig'), kubernetes.kubeconfig('sluice'), { mode: 0o600 })
      const file = join(folder, 'sluice.yaml')
      writeFileSync(
        file,
        `apiVersion: sluice.dev/v1\nkind: Config\n${readmeYaml.find((text) => text.startsWith('loadBalancers:'))}`,
      )
      const [edge] = createLoadBalancers(await loadConfig(file))
      const { adapter, port } = edge!
      const [target] = await resolveAll(adapter, [{ uid: 'u', pod: 'web-0', address: '10.0.0.1', port: Number(port) }])
      const { prior } = await snapshotOne(adapter, target!)
      assertApplied(await drainOne(adapter, target!))
      const shown = parse(readmeYaml.find((text) => text.includes('sluice.dev/drained'))!) as SliceObject
      const drained = await read()
      expect(drained.metadata.annotations).toEqual(shown.metadata.annotations)
      expect(drained.endpoints[0]).toEqual(shown.endpoints[0])
      assertApplied(await restoreOne(adapter, target!, prior))
      expect((await read()).endpoints).toEqual(before.endpoints)
      await adapter.close()
    } finally {
      await kubernetes.stop()
      rmSync(folder, { recursive: true })
    }
  }, 60_000)
})
