import { DEPLOYMENT } from '../../src/workloads/kinds/deployment.ts'
import { expect, test } from 'vitest'
import { podView } from '../../src/pods/view.ts'
import { imageOf, NAME, NAMESPACE, PORT } from './manifests.ts'
import { PLAIN_SETTINGS, plainBalancer, plainScene } from './scene.ts'
import { openStage } from './stage.ts'

/* An operator removes the label of a pod, so that its workload releases it and makes another: the usual way to inspect an ill pod. */

const V2 = { images: [{ container: 'app', image: imageOf('v2') }] }
const HOUR_MS = 3_600_000

interface Case {
  /** The state of the pod in its upgrade. */
  state: 'queued' | 'restarting' | 'done'
  isIll: boolean
  /** True where its entry stays in the load balancer. */
  isServed?: boolean
}

/** Opens a Deployment of three pods, and releases the pod in that state. */
async function letGo({ state, isIll, isServed = false }: Case) {
  const stage = await openStage(
    plainScene({
      workload: 'Deployment',
      pods: 3,
      readyAfterMs: 3_000,
      balancers: [plainBalancer({ longestRequestMs: 500 })],
    }),
  )
  const { client, ask, world } = stage
  const edge = world.balancers.get('edge')!
  const pods = () => world.server.store.list('pods', NAMESPACE).map((one) => podView(one))
  const patch = (pod: string, changes: unknown[]) =>
    ask(client.patch(`/api/v1/namespaces/${NAMESPACE}/pods/${pod}`, changes as never))
  const run = stage.start({
    ...V2,
    select: { refs: [{ ...DEPLOYMENT, name: NAME }] },
    acceptTemplateDrift: true,
    settings: PLAIN_SETTINGS,
  })
  const reached = (wanted: string): string[] =>
    run.events.flatMap((event) => (event.type === 'podState' && event.to === wanted ? [event.pod] : []))
  await stage.until(() => reached(state === 'done' ? 'done' : 'restarting').length > 0)
  const [first] = reached('restarting')
  const known = new Set(pods().map(({ uid }) => uid))
  const released = pods().find(({ name }) => (state === 'queued' ? name !== first : name === first))!
  await patch(released.name, [
    { op: 'replace', path: '/metadata/labels/app', value: 'quarantined' },
    { op: 'remove', path: '/metadata/ownerReferences' },
  ])
  if (isIll) world.cluster.unready(NAMESPACE, released.name, 'app', HOUR_MS)
  // The embedded ReplicaSet looks after its pods when one of them changes.
  const other = pods().find(({ name }) => name !== released.name && name !== first)!
  await patch(other.name, [{ op: 'add', path: '/metadata/labels/looked', value: 'at' }])
  if (!isServed) edge.operator.remove(released.name)
  const heir = () => pods().find(({ uid, ip }) => !known.has(uid) && ip !== undefined)
  await stage.until(() => heir() !== undefined)
  edge.operator.add({ name: heir()!.name, address: heir()!.ip!, port: PORT })
  await stage.until(() => run.end !== undefined)
  const containerOf = (uid: string) => pods().find((pod) => pod.uid === uid)?.containers[0]?.image
  const own = pods().filter(({ owner }) => owner !== undefined)
  return { end: run.end, image: containerOf(released.uid), own: own.map(({ containers }) => containers[0]!.image) }
}

// The run must not fail for a missing entry, restart a pod without an owner, or wait for its health.
test.each<Case>([
  { state: 'queued', isIll: true },
  { state: 'queued', isIll: false },
  { state: 'queued', isIll: false, isServed: true },
  { state: 'done', isIll: true },
])('a pod that is let go of ($state, ill: $isIll, with its entry: $isServed) is the run’s concern no more', async (given) => {
  const { end, image, own } = await letGo(given)
  expect(end).toMatchObject({ outcome: 'done' })
  expect(own).toEqual([imageOf('v2'), imageOf('v2'), imageOf('v2')])
  expect(image).toBe(imageOf(given.state === 'queued' ? 'v1' : 'v2'))
})

test('control: one that is half done comes home', async () => {
  const { end, image } = await letGo({ state: 'restarting', isIll: false, isServed: true })
  expect(end).toMatchObject({ outcome: 'done', reason: expect.stringMatching(/^4 upgraded/) as string })
  expect(image).toBe(imageOf('v2'))
})
