import { createApiServer } from '../../sim/api-server/api-server.ts'
import type { ApiAnswer, ApiRequest, ApiServer, KubeObject } from '../../sim/api-server/server.ts'
import type { SimulatedCluster } from '../../sim/cluster.ts'
import { createCluster } from '../../sim/cluster.ts'
import { recordNodeEvents } from '../../sim/node-events.ts'
import type { NodeFact } from '../../sim/facts.ts'
import type { LoadBalancer } from '../../sim/load-balancer/balancer.ts'
import { createLoadBalancer } from '../../sim/load-balancer/balancer.ts'
import type { Clock } from '../../src/ports/clock.ts'
import type { Happening } from './checker/history.ts'
import { WALL_EPOCH } from './host.ts'
import { imageOf, manifestsOf, NAME, NAMESPACE, PORT, proxyOf } from './manifests.ts'
import type { SeededRandom } from './random.ts'
import type { BalancerScene, Scene } from './scene.ts'
import type { Item, Scheduler } from './scheduler.ts'

/** The interval of bookmarks of a real API server. */
const BOOKMARK_EVERY_MS = 60_000

const WHAT = {
  containerStarted: 'started',
  containerServing: 'serving',
  containerStopping: 'stopping',
  containerExited: 'exited',
} as const

/** Everything in a scene except the processes of sluice. */
export interface World {
  server: ApiServer
  cluster: SimulatedCluster
  balancers: Map<string, LoadBalancer>
  /** Returns the turn of a load balancer in `drain.order` of the config. */
  turnOf(balancer: string): number
  /** The names of the documents, for load balancers that are changed under a Lease. */
  documents: ReadonlyMap<string, string>
  /** The webhook, which refuses or rewrites images until a time. */
  admission: { refuseUntil(at: number): void; rewriteUntil(at: number): void }
  /** Handles a request of a process. */
  arrive(request: ApiRequest, by: string, leftAt: number): ApiAnswer
  /** Makes the load balancer refuse calls for `forMs`. */
  throttle(balancer: string, forMs: number): void
  reload(balancer: string): void
  /** Returns the pods of the request as the API server has them now. */
  pods(): KubeObject[]
  /** Sets up the load balancers for the present pods, which must have addresses. */
  balance(): void
}

export interface WorldOptions {
  scene: Scene
  scheduler: Scheduler
  random: SeededRandom
  tell(happening: Happening): void
  hit(fault: string, detail: string): void
}

export function createWorld({ scene, scheduler, random, tell, hit }: WorldOptions): World {
  const clock = worldClock(scheduler)
  const server = createApiServer({ clock, random: random.fork('api-server') })
  let sent: { leftAt?: number } = {}
  server.store.subscribe((resource, { verb, before, after, by }) =>
    tell({ type: 'stored', by, resource, verb, before, after, ...sent }),
  )
  const good = { readyAfterMs: scene.readyAfterMs }
  const cluster = createCluster({
    clock,
    random: random.fork('cluster'),
    apiServer: server,
    behaviour: { reuseAddresses: scene.fixedAddresses, kubelet: { reportsNoGeneration: scene.oldKubelets } },
    // A DaemonSet has a pod on each node.
    nodes: scene.workload === 'DaemonSet' ? scene.pods : 1,
    images: {
      [imageOf('v1')]: { digest: 'sha256:1', ...good },
      [imageOf('v1-again')]: { digest: 'sha256:1', ...good },
      [imageOf('v2')]: { digest: 'sha256:2', ...good },
      [imageOf('v3')]: { digest: 'sha256:3', ...good },
      [imageOf('v9')]: { digest: 'sha256:9', ...good },
      // The image is never ready. A container that is ready for a moment is a matter of readyFor.
      [imageOf('crash')]: { digest: 'sha256:c', readyAfterMs: 1_000, crashAfterMs: 100 },
      [proxyOf('v1')]: { digest: 'sha256:p', readyAfterMs: 0 },
      [proxyOf('v1-again')]: { digest: 'sha256:p', readyAfterMs: 0 },
      [proxyOf('v2')]: { digest: 'sha256:p2', readyAfterMs: 0 },
      [proxyOf('v3')]: { digest: 'sha256:p3', readyAfterMs: 0 },
      [proxyOf('crash')]: { digest: 'sha256:pc', readyAfterMs: 1_000, crashAfterMs: 100 },
    },
  })
  cluster.onFact((fact) => tellFact(fact))
  if (scene.oldKubelets) recordNodeEvents(cluster, server.store, clock, bestEffort(scheduler, random.fork('events')))
  const bookmark = (): void => {
    server.bookmark()
    scheduler.after(BOOKMARK_EVERY_MS, bookmark)
  }
  scheduler.after(BOOKMARK_EVERY_MS, bookmark)
  for (const { resource, object } of manifestsOf(scene)) server.store.create(resource, object, 'operator')

  const balancers = new Map<string, LoadBalancer>()
  const pods = (): KubeObject[] =>
    server.store.list('pods', NAMESPACE).filter(({ metadata }) => metadata.labels?.['app'] === NAME)

  let refuseUntil = 0
  let rewriteUntil = 0
  const throttledUntil = new Map<string, number>()
  server.admit(({ operation, object, before, by }) => {
    if (object.kind !== 'Pod' || operation !== 'UPDATE' || !by.startsWith('sluice')) return undefined
    if (!changesImage(before, object)) return undefined
    if (scheduler.now() < refuseUntil)
      return { refuse: 'admission webhook "images.example" denied the request: the image is not signed' }
    // The webhook leaves other containers alone: sluice would not expect their restart in rotation.
    if (scheduler.now() < rewriteUntil)
      return { object: withMirroredImages(object, scene.changes === undefined ? undefined : before) }
    return undefined
  })

  /** The image and the address of each started container. Later facts have only its ID. */
  const started = new Map<string, { image: string; address: string }>()
  function tellFact(fact: NodeFact): void {
    if (fact.type === 'sandboxStarted' || fact.type === 'sandboxDied') return
    const { uid, container, id } = fact
    if (fact.type === 'containerStarted') started.set(id, { image: fact.image, address: fact.address })
    tell({ type: 'container', what: WHAT[fact.type], uid, container, id, ...started.get(id)! })
  }

  return {
    server,
    cluster,
    balancers,
    documents: new Map(scene.balancers.flatMap(({ name, locked }) => (locked ? [[name, `http://${name}`]] : []))),
    turnOf: (balancer) => scene.balancers.find(({ name }) => name === balancer)?.turn ?? 0,
    admission: { refuseUntil: (at) => void (refuseUntil = at), rewriteUntil: (at) => void (rewriteUntil = at) },
    arrive(request, by, leftAt) {
      sent = { leftAt }
      try {
        return server.handle(request, by)
      } finally {
        sent = {}
      }
    },
    throttle(balancer, forMs) {
      throttledUntil.set(balancer, scheduler.now() + forMs)
      if (forMs > 0) tell({ type: 'silent', balancer, forMs })
    },
    reload(name) {
      const balancer = balancers.get(name)!
      balancer.reload()
      if (balancer.options.volatile === true) tell({ type: 'forgot', balancer: name })
    },
    pods,
    balance() {
      for (const balancer of scene.balancers) balancers.set(balancer.name, makeBalancer(balancer))
    },
  }

  function makeBalancer({
    name,
    level,
    weights,
    maintained,
    staleMs,
    volatile,
    longestRequestMs,
    lagMs,
    countsRequests,
    batch,
    partial,
  }: BalancerScene): LoadBalancer {
    const choices = random.fork(`balancer ${name}`)
    return createLoadBalancer({
      name,
      level,
      clock,
      random: choices,
      staleMs,
      volatile,
      traffic: { concurrent: 2, longestMs: longestRequestMs, lagMs },
      countsRequests,
      batchMax: batch,
      servers: pods().map(({ metadata, status }, place) => ({
        name: metadata.name,
        address: (status as { podIP: string }).podIP,
        port: PORT,
        weight: weights[place % weights.length]!,
        admin: maintained.includes(place) ? 'maint' : 'ready',
      })),
      fault() {
        if (!partial || scheduler.now() > scene.calmAtMs || !choices.chance(0.2)) return undefined
        // A false success on a balancer that cannot be read could not be found out.
        const fault = level !== 'G0' && choices.chance(0.5) ? 'false-success' : 'busy'
        hit(fault === 'busy' ? 'lb-partial-batch' : 'lb-false-success', name)
        return fault
      },
      throttle() {
        const until = throttledUntil.get(name) ?? 0
        return scheduler.now() < until ? Math.min(1_000, until - scheduler.now()) : undefined
      },
      onChange: (change) => tell(change as Happening),
    })
  }
}

/** Delivers the Events of a kubelet one after another, late, and not always. */
function bestEffort(scheduler: Scheduler, random: SeededRandom): (store: () => void) => void {
  let lastAt = 0
  return (store) => {
    if (random.chance(0.15)) return
    lastAt = Math.max(lastAt, scheduler.now() + (random.chance(0.1) ? random.between(500, 5_000) : random.between(2, 200)))
    scheduler.after(lastAt - scheduler.now(), store)
  }
}

/** Returns the clock of everything except the processes of sluice. */
function worldClock(scheduler: Scheduler): Clock {
  return {
    now: () => scheduler.now(),
    wallNow: () => WALL_EPOCH + scheduler.now(),
    setTimeout: (callback, delayMs) => scheduler.after(delayMs, callback),
    clearTimeout: (item) => {
      if (item !== undefined) scheduler.cancel(item as Item)
    },
  }
}

interface Spec {
  containers: { name: string; image: string }[]
}

function changesImage(before: KubeObject | undefined, after: KubeObject): boolean {
  const images = (object: KubeObject | undefined): string | undefined =>
    (object?.['spec'] as Spec | undefined)?.containers.map(({ image }) => image).join(' ')
  return images(before) !== images(after)
}

/** Rewrites images as a webhook does that takes images from a mirror. */
function withMirroredImages(object: KubeObject, before: KubeObject | undefined): KubeObject {
  const spec = object['spec'] as Spec
  const former = (before?.['spec'] as Spec | undefined)?.containers ?? []
  const isSame = ({ name, image }: Spec['containers'][number]): boolean =>
    former.some((one) => one.name === name && one.image === image)
  const containers = spec.containers.map((one) =>
    isSame(one) ? one : { ...one, image: one.image.replace('registry.example', 'mirror.example') },
  )
  return { ...object, spec: { ...spec, containers } }
}
