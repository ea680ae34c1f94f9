import { setTimeout as sleep } from 'node:timers/promises'
import { type FollowingJob, whileFollowing } from '../acts/aggregation.ts'
import { isHome, readPods } from '../acts/home.ts'
import { CONTAINER, imageOf, NAMESPACE, WORKLOAD } from '../cluster/manifests.ts'
import { NODE } from '../cluster/start.ts'
import type { Incident, Scene } from './incident.ts'

/** The values of the incident in production are 7 s and 2 s. */
const GUESSED_DRAIN_MS = 2_000
const EVERY_MS = 250
const SCRIPT = 'release-script'
const MARK = 'release.example/updating'

/** A script that upgrades pods writes no journal, so the rules read its mark, and the images. */
const RULES = `apiVersion: sluice.dev/v1
kind: EndpointRules
metadata: {version: flap}
mode: enforce
rules:
  - name: marked-by-the-script
    when: exists(pod) && "${MARK}" in pod.metadata.annotations
    effect: notReady
  - name: old-container
    when: exists(pod) && pod.spec.containers.exists(c, pod.status.containerStatuses.exists(s, s.name == c.name && s.image != c.image))
    effect: notReady
  - use: late-heartbeat
    with: {within: 5m, floor: "100%"}
`

export const flap: Incident = {
  name: 'flap',
  symptom: 'At each release some requests fail, and the load balancer shows pods that come and go.',
  cure: 'sluice upgrades the pods: it waits for the proof of the new container, and alone changes the load balancer.',
  rules: {
    says: 'The script and the job stay as they are. Rules decide which endpoints are ready, before the API server stores them.',
    document: RULES,
  },
  expected: ['observe entry-flaps'],
  // The pod stays Ready while it stops, for long enough that the job which reads endpoints sees it.
  stage: { pods: 2, stopSeconds: 1 },
  async happen(scene, isCured) {
    await scene.underTraffic(async () => {
      if (isCured) {
        await silence(scene)
        const observing = await scene.observe([])
        await scene.upgrade([`statefulset/${WORKLOAD}`, `${CONTAINER}=${imageOf(3)}`])
        await observing.end()
        return
      }
      scene.say(`Every ${EVERY_MS / 1_000} s, a job reads the endpoints of service/${WORKLOAD}, and admits or drains pods.`)
      await whileFollowing(scene.stage, { everyMs: EVERY_MS, isReady: (pod) => isReadyEndpoint(scene, pod) }, async (job) => {
        await silence(scene, job)
        const observing = await scene.observe([])
        scene.say('A script drains a pod, waits 2 s, patches its image, waits until the pod is admitted, and goes on.')
        await upgrade(scene, job)
        await observing.end()
      })
    })
  },
}

/** The node does not report until its pods are not Ready, and until the job has looked twice. */
async function silence(scene: Scene, job?: FollowingJob): Promise<void> {
  const { api, embedded, pods } = scene.stage.cluster
  const readyPods = async (): Promise<number> => (await Promise.all(pods.map(api.read))).filter(({ isReady }) => isReady).length
  embedded.stopKubelet(NODE)
  scene.say(`The kubelet of ${NODE} is late with its heartbeat. Its pods serve on.`)
  await scene.until('the pods are not ready', async () => (await readyPods()) === 0)
  const looks = job?.looks() ?? 0
  await scene.until('the job has looked', () => job === undefined || job.looks() > looks + 2)
  embedded.continueKubelet(NODE)
  await scene.until('the pods are ready again', async () => (await readyPods()) === pods.length)
  await scene.until('all get requests', async () => [...(await scene.stage.balancer.look()).values()].every(Boolean))
}

/** The image of the next version: in each passage the script brings another one. */
async function upgrade(scene: Scene, { hold, release }: FollowingJob): Promise<void> {
  const { stage } = scene
  const { cluster, balancer } = stage
  const before = await readPods(stage)
  const image = imageOf([...before.values()].every((pod) => pod.image === imageOf(1)) ? 2 : 4)
  for (const pod of cluster.pods) {
    await mark(scene, pod, 'true')
    hold(pod)
    await balancer.drain(pod)
    await sleep(GUESSED_DRAIN_MS)
    await cluster.api.patchImage(pod, image)
    await mark(scene, pod, null)
    release(pod)
    await scene.until(`${pod} is admitted`, async () => (await balancer.look()).get(pod) === true)
  }
  await scene.until('the pods are home', () => isHome(stage, before))
}

interface Slice {
  metadata: { name: string; labels?: Record<string, string> }
  endpoints?: { conditions?: { ready?: boolean }; targetRef?: { name: string } }[]
}

async function slicesOf(scene: Scene): Promise<Slice[]> {
  const path = `/endpointslices?labelSelector=kubernetes.io/service-name%3D${WORKLOAD}`
  return ((await scene.call('GET', path, SCRIPT)) as { items: Slice[] }).items
}

async function isReadyEndpoint(scene: Scene, pod: string): Promise<boolean> {
  const endpoints = (await slicesOf(scene)).flatMap(({ endpoints: some = [] }) => some)
  return endpoints.some(({ targetRef, conditions }) => targetRef?.name === pod && conditions?.ready !== false)
}

/** Marks the pod for other programs, and has its endpoints written. */
async function mark(scene: Scene, pod: string, value: string | null): Promise<void> {
  await scene.call('PATCH', `/pods/${pod}`, SCRIPT, { metadata: { annotations: { [MARK]: value } } })
  const touched = { metadata: { namespace: NAMESPACE, annotations: { 'release.example/touched': String(Date.now()) } } }
  for (const { metadata } of await slicesOf(scene)) await scene.call('PATCH', `/endpointslices/${metadata.name}`, SCRIPT, touched)
}
