import { afterAll, beforeAll, expect, test } from 'vitest'
import { connect, createSluice, type Explanation, type Sluice } from '../../src/index.ts'
import { chosenVersion } from '../cluster/kubernetes-versions.ts'
import { type ControlPlane, type Json, startControlPlane } from './endpoints/control-plane.ts'
import { findKubernetes } from './kubernetes.ts'
import { describeOn } from './program.ts'

/*
 * Tests of the writers that a real API server records, and of the endpoints that its controllers
 * make. The test writes the status of pods.
 */

const SETTLES_WITHIN_MS = 30_000
const AT = '2026-01-01T00:00:00Z'

const SERVICE = {
  metadata: { name: 'web' },
  spec: { selector: { app: 'web' }, ports: [{ name: 'http', port: 80, targetPort: 8080 }] },
}
const POD = {
  metadata: { name: 'web-0', labels: { app: 'web' } },
  spec: { nodeName: 'node-a', containers: [{ name: 'app', image: 'app:v1', ports: [{ containerPort: 8080 }] }] },
}
const conditions = (ready: string) => [
  { type: 'ContainersReady', status: 'True', lastTransitionTime: AT },
  { type: 'Ready', status: ready, lastTransitionTime: AT },
]

describeOn(await findKubernetes(chosenVersion()), (programs) => {
  let plane: ControlPlane
  let sluice: Sluice
  let namespaces = 0

  beforeAll(async () => {
    plane = await startControlPlane(programs)
    sluice = createSluice({ cluster: await connect({ kubeconfig: plane.kubeconfig }) })
    const status = { conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady', lastTransitionTime: AT }] }
    for (const name of ['node-a', 'node-b']) {
      await plane.ask('POST', '/api/v1/nodes', { metadata: { name } })
      await plane.ask('PATCH', `/api/v1/nodes/${name}/status`, { status })
    }
  }, 60_000)
  afterAll(async () => {
    await sluice?.close()
    await plane?.stop()
  })

  /** Writes the status of a pod. `by` is the name of the client in `managedFields`. */
  function writeStatus(namespace: string, by: string, status: Json): Promise<Json> {
    return plane.ask('PATCH', `/api/v1/namespaces/${namespace}/pods/web-0/status?fieldManager=${by}`, { status })
  }

  /** Creates a namespace with a Service and its one pod, which its kubelet reports as Ready. */
  async function createScene(nodeName = 'node-a'): Promise<string> {
    const namespace = `explain-${namespaces++}`
    await plane.ask('POST', '/api/v1/namespaces', { metadata: { name: namespace } })
    await plane.ask('POST', `/api/v1/namespaces/${namespace}/services`, SERVICE)
    await plane.ask('POST', `/api/v1/namespaces/${namespace}/pods`, { ...POD, spec: { ...POD.spec, nodeName } })
    await writeStatus(namespace, 'kubelet', {
      phase: 'Running',
      podIP: '10.3.0.1',
      podIPs: [{ ip: '10.3.0.1' }],
      startTime: AT,
      conditions: conditions('True'),
      containerStatuses: [
        {
          name: 'app',
          ready: true,
          restartCount: 0,
          image: 'app:v1',
          imageID: 'sha256:1',
          state: { running: { startedAt: AT } },
        },
      ],
    })
    await until(namespace, ({ verdict }) => verdict === 'right')
    return namespace
  }

  async function until(namespace: string, is: (explanation: Explanation) => boolean): Promise<Explanation> {
    let found: Explanation | undefined
    await expect
      .poll(
        async () => {
          found = await sluice.explain({ object: 'pod/web-0', namespace })
          return is(found)
        },
        { timeout: SETTLES_WITHIN_MS, interval: 200 },
      )
      .toBe(true)
    return found!
  }

  test('a pod that is ready: its conditions are the kubelet’s, its slice and its Endpoints those of the controller manager', async () => {
    const namespace = await createScene()
    const { pods, services, findings } = await sluice.explain({ object: 'service/web', namespace })
    expect(findings).toEqual([])
    expect(pods).toMatchObject([
      {
        rotation: 'in',
        conditions: [
          { type: 'Ready', status: 'True', writtenBy: { manager: 'kubelet', is: 'kubelet' } },
          { type: 'ContainersReady', writtenBy: { is: 'kubelet' } },
        ],
      },
    ])
    expect(services).toMatchObject([
      {
        slices: [{ ready: 1, writtenBy: { manager: 'kube-controller-manager', is: 'controller-manager' } }],
        endpoints: { ready: 1, writtenBy: { is: 'controller-manager' } },
      },
    ])
  })

  test('Ready that a person has set to False, with kubectl edit --subresource=status', async () => {
    const namespace = await createScene()
    await writeStatus(namespace, 'kubectl-edit', { conditions: conditions('False') })
    const { findings, pods } = await until(namespace, ({ pods: [pod] }) => pod?.rotation === 'out')
    expect(findings.map(({ reason }) => reason.code)).toEqual(['ready-condition', 'condition-by-other'])
    expect(findings[1]).toMatchObject({
      reason: { condition: 'Ready', status: 'False', writer: { manager: 'kubectl-edit', is: 'person' } },
    })
    expect(pods).toMatchObject([
      { conditions: [{ writtenBy: { manager: 'kubectl-edit' } }, { writtenBy: { manager: 'kubelet' } }] },
    ])
  })

  test('Ready that the node lifecycle controller has taken away is no condition of another', async () => {
    const namespace = await createScene()
    await writeStatus(namespace, 'kube-controller-manager', { conditions: conditions('False') })
    const { findings } = await until(namespace, ({ pods: [pod] }) => pod?.rotation === 'out')
    expect(findings.map(({ reason }) => reason.code)).toEqual(['node-silent'])
  })

  test('a node that goes: its pod stays in the slice, which is called right, until its Service is synced', async () => {
    const namespace = await createScene('node-b')
    await plane.ask('DELETE', '/api/v1/nodes/node-b')
    // The endpoints of a later scene prove that the controllers have seen the deletion.
    await createScene()
    const codes = ({ findings, pods }: Explanation): unknown => [pods[0]!.rotation, ...findings.map(({ reason }) => reason.code)]
    expect(codes(await sluice.explain({ object: 'pod/web-0', namespace }))).toEqual(['in', 'node-not-found'])

    await plane.ask('PATCH', `/api/v1/namespaces/${namespace}/services/web`, { metadata: { annotations: { touched: 'again' } } })
    const after = await until(namespace, ({ pods: [pod] }) => pod?.rotation === 'out')
    expect(codes(after)).toEqual(['out', 'node-not-found'])
  })

  test('a pod that is not Ready and ends: slice and Endpoints keep it as not ready, and are called right', async () => {
    const namespace = await createScene()
    await writeStatus(namespace, 'kubelet', { conditions: conditions('False') })
    await until(namespace, ({ pods: [pod] }) => pod?.rotation === 'out')
    await writeStatus(namespace, 'kubelet', { phase: 'Failed' })
    await createScene()
    const { findings, services } = await sluice.explain({ object: 'service/web', namespace })
    expect(services).toMatchObject([{ slices: [{ ready: 0, notReady: 1 }], endpoints: { ready: 0, notReady: 1 } }])
    expect(findings.map(({ reason }) => reason.code)).toEqual(['no-ready-endpoint', 'pod-finished'])
  })

  test('Endpoints that a person has edited stay so, and are told with the writer', async () => {
    const namespace = await createScene()
    await plane.ask('PATCH', `/api/v1/namespaces/${namespace}/endpoints/web?fieldManager=kubectl-edit`, {
      subsets: [{ addresses: [{ ip: '192.0.2.1' }], ports: [{ name: 'http', port: 8080, protocol: 'TCP' }] }],
    })
    const { verdict, findings } = await sluice.explain({ object: 'service/web', namespace })
    expect(verdict).toBe('wrong')
    expect(findings.map(({ reason }) => reason)).toMatchObject([
      { code: 'endpoints-differ', pods: [{ pod: 'web-0', is: 'absent', made: 'ready' }] },
      { code: 'stale-address', object: { kind: 'Endpoints', name: 'web' }, address: '192.0.2.1', because: 'no-pod-named' },
      { code: 'written-by-other', object: { kind: 'Endpoints' }, writer: { manager: 'kubectl-edit', is: 'person' } },
    ])
  })
})
