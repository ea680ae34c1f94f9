import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type KubernetesProcess, startKubernetes } from '../../adapters/conformance/beds/kubernetes-process.ts'
import { connect, type Connection } from '../../src/kube/connect.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../../src/kube/testing/temporary-folder.ts'
import { type Collection, openCollection } from '../../src/observation/collection.ts'
import { systemClock, systemRandom } from '../../src/ports/system.ts'
import { chosenVersion } from '../cluster/kubernetes-versions.ts'
import { findKubernetes } from './kubernetes.ts'
import { describeOn } from './program.ts'

/* A collection of a real API server whose etcd is restored from a copy: the same uids, at lower versions. */

const PATH = '/api/v1/namespaces/default/configmaps'
const WITHIN = { timeout: 60_000, interval: 50 }

interface Kept {
  uid: string
  name: string
  namespace: string
  resourceVersion: string
  value: string | undefined
}

function decode(raw: unknown): Kept {
  const { metadata, data } = raw as { metadata: Omit<Kept, 'value'>; data?: { value?: string } }
  const { uid, name, namespace, resourceVersion } = metadata
  return { uid, name, namespace, resourceVersion, value: data?.value }
}

describeOn(await findKubernetes(chosenVersion()), (programs) => {
  let kubernetes: KubernetesProcess
  let connection: Connection
  let collection: Collection<Kept>
  let folder: TemporaryFolder
  const ending = new AbortController()

  beforeAll(async () => {
    folder = makeTemporaryFolder()
    const rules = [
      { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: [''], resources: ['services'], verbs: ['get'] },
    ]
    kubernetes = await startKubernetes({ programs, rules })
    const kubeconfig = join(folder.path, 'kubeconfig')
    writeFileSync(kubeconfig, kubernetes.kubeconfig('sluice'))
    connection = await connect({ kubeconfig, clock: systemClock, random: systemRandom })
  }, 90_000)
  afterAll(async () => {
    ending.abort()
    await collection?.ended
    await connection?.close()
    await kubernetes?.stop()
    folder.remove()
  })

  const create = (name: string, value: string): Promise<unknown> =>
    kubernetes.ask('POST', PATH, { metadata: { name, labels: { bed: 'yes' } }, data: { value } })
  const change = (name: string, value: string): Promise<unknown> =>
    kubernetes.ask('PUT', `${PATH}/${name}`, { metadata: { name, labels: { bed: 'yes' } }, data: { value } })
  const seen = (): object => Object.fromEntries([...collection.records().values()].map(({ name, value }) => [name, value]))
  const newest = (): number =>
    Math.max(...[...collection.records().values()].map(({ resourceVersion }) => Number(resourceVersion)))

  test('shows what the server has after the restore, and follows it from there', async () => {
    for (const name of ['stays', 'changes', 'goes']) await create(name, 'v1')
    collection = openCollection({
      client: connection.client,
      clock: systemClock,
      random: systemRandom,
      path: PATH,
      labelSelector: 'bed=yes',
      decode,
      onEvent: () => {},
      signal: ending.signal,
    })
    await collection.settled
    await kubernetes.backUp()
    await expect.poll(() => kubernetes.ask('GET', '/readyz').catch(String), WITHIN).toBe('ok')
    for (let value = 2; value < 200; value += 1) await change('changes', `v${value}`)
    await kubernetes.ask('DELETE', `${PATH}/goes`)
    await create('comes', 'v1')
    await expect.poll(seen, WITHIN).toEqual({ stays: 'v1', changes: 'v199', comes: 'v1' })
    const before = newest()

    await kubernetes.restore()
    await expect.poll(seen, WITHIN).toEqual({ stays: 'v1', changes: 'v1', goes: 'v1' })
    await expect.poll(() => collection.isCurrent(), WITHIN).toBe(true)
    await change('goes', 'v2')
    await expect.poll(seen, WITHIN).toEqual({ stays: 'v1', changes: 'v1', goes: 'v2' })
    // The versions are below those of before: neither the list nor the watch has waited for them to pass.
    expect(newest()).toBeLessThan(before)
  }, 200_000)
})
