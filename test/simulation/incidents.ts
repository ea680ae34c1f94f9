import { podId } from '../../src/workloads/kinds/pod.ts'
import type { KubeObject } from '../../sim/api-server/server.ts'
import type { Faults } from './faults.ts'
import type { Host } from './host.ts'
import { imageOf, NAME, NAMESPACE } from './manifests.ts'
import type { SeededRandom } from './random.ts'
import type { Incident, PartScene, Scene } from './scene.ts'
import type { Scheduler } from './scheduler.ts'
import type { Part, Supervisor } from './supervisor.ts'
import type { World } from './world.ts'

const RESOURCES = { StatefulSet: 'statefulsets.apps', DaemonSet: 'daemonsets.apps', Deployment: 'deployments.apps' } as const

/** The label that a StatefulSet sets on its pods. */
const POD_NAME = 'statefulset.kubernetes.io/pod-name'
const JOURNAL = 'sluice.dev/journal'
const NONSENSE = '{"v":1'

export interface IncidentOptions {
  scene: Scene
  scheduler: Scheduler
  random: SeededRandom
  world: World
  supervisor: Supervisor
  faults: Faults
  hosts: readonly Host[]
  hit(fault: string, detail: string): void
}

interface HappeningOptions extends IncidentOptions {
  /** The targets that an operator has put in maintenance, by load balancer and target, with their states before. */
  maintained: Map<string, 'ready' | 'drain' | 'maint'>
  /** The changes by hand that will be taken back. */
  takingBack: Set<() => void>
}

/** Schedules the incidents of a scene. Returns a function that omits the incidents that have not happened yet. */
export function scheduleIncidents(given: IncidentOptions): () => void {
  const options: HappeningOptions = { ...given, maintained: new Map(), takingBack: new Set() }
  const { scene, scheduler, hit } = options
  const items = scene.incidents.map((incident) =>
    scheduler.after(incident.atMs, () => {
      if (happen(incident, options)) hit(incident.kind, '')
    }),
  )
  const { part } = scene
  if (part !== undefined)
    items.push(
      scheduler.after(part.atMs, () => {
        const meant = podsOf(part, options)
        if (meant !== undefined) options.supervisor.wantPart(meant, part)
      }),
    )
  return () => {
    for (const item of items) scheduler.cancel(item)
    calmDown(options)
  }
}

/** Lets an incident happen. Returns false where it has no object. */
function happen({ kind, which, forMs }: Incident, options: HappeningOptions): boolean {
  const { scene, scheduler, random, world, supervisor, faults, hosts } = options
  const { cluster, server } = world
  const pods = world.pods()
  const pod = pods[which % Math.max(1, pods.length)]
  const balancers = [...world.balancers.values()]
  const balancer = balancers[which % balancers.length]!
  const target = balancer.names()[which % balancer.names().length]

  switch (kind) {
    case 'crash':
      return supervisor.crash(forMs)
    case 'stop':
      return supervisor.stopFor(forMs)
    case 'takeover':
      return supervisor.takeOver(20_000 + forMs)
    case 'rival':
      return supervisor.rival()
    case 'interrupt':
      return supervisor.interrupt()
    case 'abort':
      return supervisor.abort(which % 2 === 0 ? 'command' : 'handle')
    case 'pause':
      return supervisor.pauseFor(forMs, which % 2 === 0 ? 'command' : 'handle')
    case 'other-images':
      return supervisor.wantOthers()
    case 'clock-jump':
      for (const host of hosts) host.jumpWallClock(random.pick([-3_600_000, -5_000, 5_000, 3_600_000]))
      return hosts.length > 0
    case 'api-server-restart':
      faults.stopApiServer(Math.min(forMs, 10_000))
      return true
    case 'balancer-reload':
      world.reload(balancer.name)
      return true
    case 'balancer-restart':
      faults.stopBalancer(balancer.name, Math.min(forMs, 10_000))
      scheduler.after(Math.min(forMs, 10_000), () => world.reload(balancer.name))
      return true
    case 'balancer-throttles':
      world.throttle(balancer.name, forMs)
      return true
    case 'pod-deleted':
      return befall(pod, (name) => cluster.deletePod(NAMESPACE, name))
    case 'pod-force-deleted':
      return befall(pod, (name) => cluster.deletePod(NAMESPACE, name, { force: true }))
    case 'pod-evicted':
      return befall(pod, (name) => cluster.evict(NAMESPACE, name))
    case 'sandbox-died':
      return isScheduled(pod) && befall(pod, (name) => cluster.killSandbox(NAMESPACE, name))
    case 'container-crash':
      return isRunning(pod) && befall(pod, (name) => crashIfItRuns(name, cluster))
    case 'kubelet-restart':
      cluster.restartKubelet(cluster.nodes[which % cluster.nodes.length]!)
      return true
    case 'late-heartbeat': {
      const node = cluster.nodes[which % cluster.nodes.length]!
      cluster.stopKubelet(node)
      scheduler.after(50_000 + forMs, () => cluster.continueKubelet(node))
      return true
    }
    case 'admission-refuses':
      world.admission.refuseUntil(scheduler.now() + forMs)
      return true
    case 'admission-rewrites':
      world.admission.rewriteUntil(scheduler.now() + forMs)
      return true
    case 'journal-edited':
      return pod !== undefined && editJournal(pod, options)
    case 'operator-weight':
      if (target === undefined) return false
      balancer.operator.set(target, { weight: random.integer(2, 90) })
      return true
    case 'operator-maintenance':
      if (target === undefined) return false
      options.maintained.set(`${balancer.name}/${target}`, balancer.state(target)!.admin)
      balancer.operator.set(target, { admin: 'maint' })
      return true
    case 'operator-ends-maintenance': {
      const held = balancer.names().find((name) => balancer.state(name)!.admin === 'maint')
      if (held !== undefined)
        balancer.operator.set(held, { admin: options.maintained.get(`${balancer.name}/${held}`) ?? 'ready' })
      return held !== undefined
    }
    case 'images-patched':
      return befall(pod, (name) => patchImage(name, imageOf('v9'), server))
    case 'images-patched-back':
      return befall(pod, (name) => {
        const former = imageIn(pod!)
        patchImage(name, imageOf('v9'), server)
        takeBackAfter(forMs, { pod: pod!, image: former }, options)
      })
    case 'lease-deleted':
      return deleteLease(which, options)
    case 'lease-cleared':
      return clearHolder(which, options)
    case 'scaled-down':
      return scaleDown(forMs, options)
    case 'template-edited':
      return scene.workload !== 'Pod' && editTemplate(RESOURCES[scene.workload], server, [{ name: 'EDITED', value: '1' }])
  }
}

/** Returns the present pods of a part. Undefined where the part is all pods. */
function podsOf({ places, byLabel }: PartScene, { scene, world }: IncidentOptions): Part | undefined {
  const there = world.pods().map(({ metadata: { name } }) => name)
  const pods = [...new Set(places.map((place) => there[place % there.length]!))]
  if (pods.length >= there.length) return undefined
  const isLabelled = byLabel && scene.workload === 'StatefulSet'
  const refs = pods.map(podId)
  return { pods, select: isLabelled ? { labelSelector: `${POD_NAME} in (${pods.join(',')})` } : { refs } }
}

function befall(pod: KubeObject | undefined, what: (name: string) => void): boolean {
  if (pod === undefined || pod.metadata.deletionTimestamp !== undefined) return false
  what(pod.metadata.name)
  return true
}

/** Crashes the container if it runs: the status may show a container that has just ended. */
function crashIfItRuns(pod: string, cluster: World['cluster']): void {
  try {
    cluster.crashContainer(NAMESPACE, pod, 'app')
  } catch {
    // The container does not run.
  }
}

function isScheduled(pod: KubeObject | undefined): boolean {
  return (pod?.['spec'] as { nodeName?: string } | undefined)?.nodeName !== undefined
}

function isRunning(pod: KubeObject | undefined): boolean {
  const { containerStatuses = [] } = (pod?.['status'] ?? {}) as { containerStatuses?: { name: string; state: object }[] }
  return containerStatuses.some(({ name, state }) => name === 'app' && 'running' in state)
}

/** Removes the record of a pod, or makes it unreadable, as an operator might do. */
function editJournal(pod: KubeObject, { world, random }: IncidentOptions): boolean {
  if (pod.metadata.annotations?.[JOURNAL] === undefined) return false
  writeJournal(pod, random.chance(0.5) ? undefined : NONSENSE, world.server)
  return true
}

/**
 * Deletes a Lease whose owner has a record: an owner without a record is unknown to others. The count of epochs is lost, except in
 * journals. A G3 load balancer may then refuse the calls of the next owners (docs/operations.md).
 */
function deleteLease(which: number, { scene, world }: IncidentOptions): boolean {
  if (scene.balancers.some(({ level }) => level === 'G3')) return false
  const { store } = world.server
  const leases = store.list('leases.coordination.k8s.io', NAMESPACE)
  const lease = leases[which % Math.max(1, leases.length)]
  if (lease === undefined || store.list('configmaps', NAMESPACE).length === 0) return false
  store.remove('leases.coordination.k8s.io', NAMESPACE, lease.metadata.name, 'operator')
  return true
}

/** Clears the holder of a Lease. Its owner may live, and finds out at its next renewal. */
function clearHolder(which: number, { world }: IncidentOptions): boolean {
  const { store } = world.server
  const resource = 'leases.coordination.k8s.io'
  const held = store.list(resource, NAMESPACE).filter((lease) => holderOf(lease) !== '')
  const lease = held[which % Math.max(1, held.length)]
  if (lease === undefined) return false
  const cleared = (now: KubeObject): KubeObject => ({ ...now, spec: { ...(now['spec'] as object), holderIdentity: '' } })
  store.update(resource, NAMESPACE, lease.metadata.name, cleared, 'operator')
  return true
}

function holderOf(lease: KubeObject): string {
  return (lease['spec'] as { holderIdentity?: string } | undefined)?.holderIdentity ?? ''
}

/** Scales down by one pod for a while. */
function scaleDown(forMs: number, { scene, scheduler, takingBack, world, hit }: HappeningOptions): boolean {
  if (scene.workload !== 'StatefulSet' || scene.pods < 2) return false
  const scale = (replicas: number): void => {
    world.server.store.update(
      RESOURCES.StatefulSet,
      NAMESPACE,
      NAME,
      (now) => ({ ...now, spec: { ...(now['spec'] as object), replicas } }),
      'operator',
    )
  }
  function scaleUp(): void {
    takingBack.delete(scaleUp)
    scale(scene.pods)
    hit('scaled-up', '')
  }
  scale(scene.pods - 1)
  takingBack.add(scaleUp)
  scheduler.after(forMs, () => {
    if (takingBack.has(scaleUp)) scaleUp()
  })
  return true
}

function writeJournal(pod: KubeObject, text: string | undefined, server: World['server']): void {
  server.store.update(
    'pods',
    NAMESPACE,
    pod.metadata.name,
    (now) => {
      const { [JOURNAL]: _, ...others } = now.metadata.annotations ?? {}
      const annotations = text === undefined ? others : { ...others, [JOURNAL]: text }
      return { ...now, metadata: { ...now.metadata, annotations } }
    },
    'operator',
  )
}

function imageIn(pod: KubeObject): string {
  return (pod['spec'] as PodSpec).containers.find(({ name }) => name === 'app')!.image
}

interface PodSpec {
  containers: { name: string; image: string }[]
}

function patchImage(pod: string, image: string, server: World['server']): void {
  server.store.update(
    'pods',
    NAMESPACE,
    pod,
    (now) => {
      const spec = now['spec'] as PodSpec
      const containers = spec.containers.map((one) => (one.name === 'app' ? { ...one, image } : one))
      return { ...now, spec: { ...spec, containers } }
    },
    'operator',
  )
}

/** Takes a patch by hand back, if the pod and the patched image are still there. */
function takeBackAfter(
  forMs: number,
  { pod: { metadata }, image }: { pod: KubeObject; image: string },
  { scheduler, takingBack, world, hit }: HappeningOptions,
): void {
  function takeBack(): void {
    takingBack.delete(takeBack)
    const now = world.pods().find(({ metadata: { uid } }) => uid === metadata.uid)
    if (now === undefined || now.metadata.deletionTimestamp !== undefined || imageIn(now) !== imageOf('v9')) return
    patchImage(metadata.name, image, world.server)
    hit('images-taken-back', '')
  }
  takingBack.add(takeBack)
  scheduler.after(forMs, () => {
    if (takingBack.has(takeBack)) takeBack()
  })
}

/** Changes the environment in the workload's template during a run, or takes the change back. */
function editTemplate(resource: string, server: World['server'], env: { name: string; value: string }[]): boolean {
  interface Template {
    template: { metadata: unknown; spec: { containers: Record<string, unknown>[] } }
  }
  server.store.update(
    resource,
    NAMESPACE,
    NAME,
    (now) => {
      const spec = now['spec'] as Template
      const containers = spec.template.spec.containers.map((container) => {
        const others = Object.entries(container).filter(([field]) => field !== 'env')
        return Object.fromEntries(env.length === 0 ? others : [...others, ['env', env]])
      })
      return { ...now, spec: { ...spec, template: { ...spec.template, spec: { ...spec.template.spec, containers } } } }
    },
    'operator',
  )
  return true
}

/** Ends the effects of the incidents, as an operator might do. */
function calmDown(options: HappeningOptions): void {
  const { scene, random, world, faults } = options
  world.admission.refuseUntil(0)
  world.admission.rewriteUntil(0)
  for (const name of world.balancers.keys()) {
    world.throttle(name, 0)
    faults.stopBalancer(name, 0)
  }
  faults.stopApiServer(0)
  for (const takeBack of options.takingBack) takeBack()
  for (const node of world.cluster.nodes) world.cluster.continueKubelet(node)
  if (random.chance(0.8)) endMaintenance(options)
  if (random.chance(0.8)) registerPods(options)
  if (scene.workload !== 'Pod' && random.chance(0.8)) editTemplate(RESOURCES[scene.workload], world.server, [])
  if (random.chance(0.8)) for (const pod of world.pods()) removeNonsense(pod, world)
}

/** Ends each maintenance: the target returns to its state before. */
function endMaintenance({ world, maintained }: HappeningOptions): void {
  for (const balancer of world.balancers.values()) {
    for (const target of balancer.names()) {
      const before = maintained.get(`${balancer.name}/${target}`)
      if (before !== undefined && balancer.state(target)?.admin === 'maint') balancer.operator.set(target, { admin: before })
    }
  }
}

/** Assigns the entries of pods that are gone to pods without an entry, as the keeper of the load balancers does. */
function registerPods({ world }: IncidentOptions): void {
  const addresses = world.pods().map(({ status }) => (status as { podIP?: string } | undefined)?.podIP)
  for (const balancer of world.balancers.values()) {
    const entries = balancer.names().map((name) => ({ name, address: balancer.state(name)!.address }))
    const free = entries.filter(({ address }) => !addresses.includes(address))
    for (const address of addresses) {
      if (address === undefined || entries.some((entry) => entry.address === address)) continue
      const entry = free.shift()
      if (entry !== undefined) balancer.operator.set(entry.name, { address })
    }
  }
}

function removeNonsense(pod: KubeObject, { server }: World): void {
  if (pod.metadata.annotations?.[JOURNAL] !== NONSENSE) return
  writeJournal(pod, undefined, server)
}
