import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { stringify } from 'yaml'
import { startEmbeddedCluster } from '../../sim/http/embedded-cluster.ts'
import { writeKubeconfig } from '../../sim/http/kubeconfig.ts'
import { isReady, type Pod } from '../../sim/kubelet/pod.ts'
import { runCommand } from '../cluster/run-command.ts'
import { appContainer, statefulSet } from './stateful-set.ts'

const SCRIPT = join(import.meta.dirname, '../../src/cli/sluice.ts')
const PORT = 80
const PODS = 2

interface Slice {
  metadata: { name: string; annotations?: Record<string, string> }
  endpoints: { addresses: string[]; conditions?: { ready?: boolean } }[]
}

test('a hand-made slice beside the pods, which names them: what sluice has drained there is not waited for before the restore', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-own-slice-'))
  const images = Object.fromEntries([1, 2].map((index) => [`app:v${index}`, { digest: `sha256:${index}` }]))
  const cluster = await startEmbeddedCluster({ nodes: 2, images })
  onTestFinished(async () => {
    await cluster.close()
    await rm(folder, { recursive: true, force: true })
  })
  const kubeconfig = join(folder, 'kubeconfig')
  await writeKubeconfig(kubeconfig, cluster.url)
  cluster.apply(statefulSet('web', PODS, [appContainer(PORT)]))
  const pods = (): Pod[] => cluster.apiServer.store.list('pods', 'default') as Pod[]
  const areReady = () => expect([pods().length, pods().every(isReady)]).toEqual([PODS, true])
  await vi.waitFor(areReady, { timeout: 30_000, interval: 50 })
  cluster.apply({ apiVersion: 'v1', kind: 'Service', metadata: { name: 'edge' }, spec: { ports: [{ port: 80 }] } })
  cluster.apply({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: 'edge-1', labels: { 'kubernetes.io/service-name': 'edge' } },
    addressType: 'IPv4',
    ports: [{ port: PORT }],
    endpoints: pods().map(({ metadata: { name, uid }, status }) => ({
      addresses: [status!.podIP!],
      // An API server sets the conditions, and the embedded one does not.
      conditions: {},
      targetRef: { kind: 'Pod', name, uid, namespace: 'default' },
    })),
  })
  const slice = (): Slice =>
    (cluster.apiServer.store.list('endpointslices.discovery.k8s.io', 'default') as unknown as Slice[]).find(
      ({ metadata }) => metadata.name === 'edge-1',
    )!
  const { endpoints } = slice()

  const options = { namespace: 'default', service: 'edge', kubeconfig, settle: '0s' }
  const config = join(folder, 'sluice.yaml')
  const edge = { name: 'edge', adapter: 'endpointslice', port: PORT, options }
  await writeFile(config, stringify({ apiVersion: 'sluice.dev/v1', kind: 'Config', loadBalancers: [edge] }))
  const args = [SCRIPT, 'upgrade', 'statefulset/web', 'app=app:v2', '--config', config, '--kubeconfig', kubeconfig]
  const { code, stdout, stderr } = await runCommand(process.execPath, args, { allowFailure: true, timeoutMs: 60_000 })
  expect([code, code === 0 ? '' : stdout + stderr]).toEqual([0, ''])
  expect(pods().map(({ spec }) => spec.containers[0]?.image)).toEqual(['app:v2', 'app:v2'])
  expect(slice().endpoints).toEqual(endpoints)
}, 90_000)
