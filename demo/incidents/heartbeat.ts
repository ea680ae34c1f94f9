import { NODE } from '../cluster/start.ts'
import type { Incident, Scene } from './incident.ts'

const HEARTBEAT_MS = 1_000
/** Kubernetes has a grace period of 50 s, and a heartbeat every 10 s. */
const GRACE_S = 3
const CURED_GRACE_S = 60

export const heartbeat: Incident = {
  name: 'heartbeat',
  symptom: 'All pods of a node lose their endpoints at once, for a minute. No pod has restarted.',
  cure: `The controller manager waits ${CURED_GRACE_S} s for a heartbeat, longer than this kubelet is ever late.`,
  expected: ['observe pods-lost-with-heartbeat', 'explain node-silent', 'doctor heartbeat-missed'],
  stage: {
    pods: 2,
    embedded: { managesFields: true, heartbeatMs: HEARTBEAT_MS, behaviour: { nodeMonitorGracePeriodMs: GRACE_S * 1_000 } },
  },
  followed: { service: 'web', object: 'endpointslices' },
  prepare: async (scene) => tellController(scene, GRACE_S),
  async happen(scene, isCured) {
    const { api, embedded, pods } = scene.stage.cluster
    const areReady = async (): Promise<boolean> => (await Promise.all(pods.map(api.read))).every(({ isReady }) => isReady)
    const observing = await scene.observe([])
    await scene.underTraffic(async () => {
      embedded.stopKubelet(NODE)
      scene.say(`The kubelet of ${NODE} does not report any more. Its pods serve on.`)
      if (!isCured) await scene.until('the pods are not ready', async () => !(await areReady()))
      await scene.explain(`pod/${pods[0]}`)
      await scene.doctor()
      embedded.continueKubelet(NODE)
      scene.say('The kubelet reports again.')
      await scene.until('the pods are ready', areReady)
    })
    await observing.end()
  },
  async applyCure(scene) {
    scene.stage.cluster.embedded.setNodeMonitorGracePeriod(CURED_GRACE_S * 1_000)
    tellController(scene, CURED_GRACE_S)
  },
}

/** Creates a pod of the controller manager that no kubelet runs. The doctor reads the grace period from its command. */
function tellController({ stage: { cluster } }: Scene, graceS: number): void {
  const metadata = { name: 'kube-controller-manager', namespace: 'kube-system', labels: { component: 'kube-controller-manager' } }
  const command = ['kube-controller-manager', `--node-monitor-grace-period=${graceS}s`]
  const { store } = cluster.embedded.apiServer
  if (store.get('pods', metadata.namespace, metadata.name) !== undefined)
    cluster.embedded.deletePod(metadata.namespace, metadata.name, { force: true })
  const spec = { nodeName: 'control-plane', containers: [{ name: metadata.name, image: 'kube-controller-manager', command }] }
  cluster.embedded.apply({ apiVersion: 'v1', kind: 'Pod', metadata, spec })
}
