import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { type ControlPlane, type Json, startControlPlane } from '../../products/endpoints/control-plane.ts'
import { createWorkload, type Workload } from '../../products/sync/workload.ts'
import { ensureKubernetes } from '../binaries.ts'
import { nodeAddress } from '../cluster-info.ts'
import { chosenVersion } from '../kubernetes-versions.ts'
import { namespace } from '../manifests.ts'
import { clusterSupport } from '../support.ts'
import { type DeployBed, startDeployBed } from './deploy-bed.ts'
import { reachHost } from './reach-host.ts'

/*
 * Sync in real pods, installed from deploy/sync with kubectl alone, as its ServiceAccount. Its source is a control plane beside the cluster,
 * as the account of deploy/sync/source. The tests follow each other.
 */

const DEPLOY = join(import.meta.dirname, '../../../deploy')
const SHOP = 'shop'
const HOME = 'sluice-sync'
const NODE_PORT = 16_443
const WITHIN = { timeout: 60_000 }

const support = await clusterSupport()
const missing = support.available ? '' : ` (needs ${support.missing.join('; ')})`

describe.skipIf(!support.available)(`sync as deploy/ has it${missing}`, () => {
  let bed: DeployBed
  let source: ControlPlane
  let workload: Workload
  let closeWay: () => Promise<void>

  beforeAll(async () => {
    ;[bed, source] = await Promise.all([
      startDeployBed(),
      startControlPlane(await ensureKubernetes(chosenVersion()), {
        controllers: 'endpointslice-controller,serviceaccount-token-controller',
      }),
    ])
    closeWay = await reachHost(bed.cluster, NODE_PORT, Number(new URL(source.url).port))
    workload = createWorkload(source, 100)
    await workload.makeServices(['web'])
    await workload.makePods('web', 3)
    await bed.cluster.api.apply(namespace(SHOP))
  })
  afterAll(async () => {
    await closeWay?.()
    await Promise.all([source?.stop(), bed?.stop()])
  })

  /** The kubeconfig of the account in the source, with the way that pods have to it. */
  async function sourceKubeconfig(): Promise<string> {
    const inSource = (...args: string[]): Promise<string> => bed.kubectl('--kubeconfig', source.kubeconfig, ...args)
    await inSource('apply', '-k', join(DEPLOY, 'sync/source'))
    await inSource('apply', '-n', SHOP, '-k', join(DEPLOY, 'sync/source-namespace'))
    const secret = ['get', 'secret', '-n', HOME, 'sluice-sync-token', '-o', 'jsonpath={.data.token}']
    await expect.poll(() => inSource(...secret), WITHIN).not.toBe('')
    const token = Buffer.from(await inSource(...secret), 'base64').toString()
    const ca = await inSource('config', 'view', '--raw', '-o', 'jsonpath={.clusters[0].cluster.certificate-authority-data}')
    const cluster = {
      server: `https://${nodeAddress}:${NODE_PORT}`,
      'certificate-authority-data': ca,
      'tls-server-name': 'kubernetes.default.svc',
    }
    const file = join(bed.cluster.info.dir, 'east.kubeconfig')
    const named = { name: 'east', context: { cluster: 'east', user: 'sync' } }
    const users = [{ name: 'sync', user: { token } }]
    const clusters = [{ name: 'east', cluster }]
    writeFileSync(
      file,
      JSON.stringify({ apiVersion: 'v1', kind: 'Config', 'current-context': 'east', clusters, users, contexts: [named] }),
    )
    return file
  }

  const copied = async (): Promise<string[]> =>
    (await bed.cluster.api.list('EndpointSlice', SHOP))
      .flatMap(({ endpoints }: Json) => (endpoints ?? []) as Json[])
      .filter(({ conditions }) => conditions.ready)
      .map(({ addresses }) => addresses[0] as string)
      .sort()
  async function isCopied(): Promise<void> {
    await expect.poll(copied, WITHIN).toEqual([...workload.pods('web').values()].map(({ address }) => address).sort())
  }
  const holder = async (): Promise<string> => (await bed.cluster.api.get('Lease', HOME, HOME)).spec.holderIdentity

  it('installs with two replicas under restricted Pod Security, and copies', async () => {
    const config = {
      apiVersion: 'sluice.dev/v1',
      kind: 'SyncConfig',
      access: 'in-cluster',
      sources: [{ name: 'east', kubeconfig: '../sources/east' }],
      services: [{ namespace: SHOP, name: 'web', create: true }],
    }
    const overlay = await bed.overlay('sync', {
      bases: ['sync/base'],
      rights: { base: 'sync/namespace', namespaces: [SHOP] },
      files: { 'sync.yaml': stringify(config) },
      more: { configMapGenerator: [{ name: 'sluice-sync-config', namespace: HOME, files: ['sync.yaml'] }] },
    })
    await bed.kubectl('apply', '-k', overlay)
    await bed.kubectl(
      'create',
      'secret',
      'generic',
      'sluice-sync-sources',
      '-n',
      HOME,
      `--from-file=east=${await sourceKubeconfig()}`,
    )
    await bed.available(HOME, HOME, 2)
    await isCopied()
    const status = ['sluice', 'sync', 'status', '--config', '/etc/sluice/config/sync.yaml', '-o', 'json']
    const said = await bed.kubectl('exec', '-n', HOME, `deployment/${HOME}`, '--', ...status)
    expect(JSON.parse(said)).toMatchObject({ isInOrder: true, services: [{ namespace: SHOP, name: 'web' }] })
  })

  it('goes on after the replica that leads is killed', async () => {
    const leader = await holder()
    await bed.cluster.killContainer(HOME, leader.split('_')[0]!, 'sync')
    await workload.deletePod([...workload.pods('web').keys()][0]!)
    await workload.makePods('web', 2)
    await isCopied()
    expect(await holder()).not.toBe(leader)
    await bed.available(HOME, HOME, 2)
  })
})
