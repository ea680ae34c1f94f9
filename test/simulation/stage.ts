import { idNamed } from '../../src/workloads/kinds/testing/id-named.ts'
import type { PreparedRun, RunPorts, RunRequest } from '../../src/engine/run.ts'
import type { PodState, RunEvent } from '../../src/engine/events.ts'
import type { KubeClient } from '../../src/kube/client.ts'
import { createKubeClient } from '../../src/kube/kube-client.ts'
import type { Transport } from '../../src/kube/transport.ts'
import { createSimulatedAdapter } from './adapter/simulated-adapter.ts'
import type { Happening, HistoryEntry } from './checker/history.ts'
import { createFaults } from './faults.ts'
import { createHost } from './host.ts'
import type { Host } from './host.ts'
import { NAME, NAMESPACE, PORT } from './manifests.ts'
import { createNetwork } from './network.ts'
import { createRandom } from './random.ts'
import type { Scene } from './scene.ts'
import { PLAIN_SETTINGS } from './scene.ts'
import { createScheduler } from './scheduler.ts'
import type { QuietWay, Silenced } from './silence.ts'
import { quietWay } from './silence.ts'
import type { ProcessEnd, SluiceProcess } from './sluice-process.ts'
import { startProcess } from './sluice-process.ts'
import { createWire } from './wire.ts'
import type { World } from './world.ts'
import { createWorld } from './world.ts'

const LONGEST_MS = 600_000

/** One process that a test has started. */
export interface Actor extends SluiceProcess {
  readonly end: ProcessEnd | undefined
  readonly events: readonly RunEvent[]
}

/** Reports whether a pod, or the given pod, was in a state. */
export const isIn =
  (state: PodState, pod?: string) =>
  ({ events }: Pick<Actor, 'events'>): boolean =>
    events.some((event) => event.type === 'podState' && event.to === state && (pod === undefined || event.pod === pod))

/** A scene without a supervisor: the test decides which command starts when. */
export interface Stage {
  world: World
  history: readonly HistoryEntry[]
  /** The client of an operator, without faults. */
  client: KubeClient
  start(request?: Partial<RunRequest>, prepare?: (ports: RunPorts) => Promise<PreparedRun>): Actor
  /** Lets time pass until the condition holds. */
  until(isSo: () => boolean): Promise<void>
  pass(ms: number): Promise<void>
  /** Makes the load balancer give no answer for `forMs`. */
  stopBalancer(name: string, forMs: number): void
  stopApiServer(forMs: number): void
  /** Makes the path between the processes and the API server silent for `forMs`, without an error. */
  silenceApiServer(forMs: number, what?: Silenced): void
  /** Returns the answer to a call of an operator, while time passes. */
  ask<T>(call: Promise<T>): Promise<T>
}

export async function openStage(scene: Scene): Promise<Stage> {
  const random = createRandom(scene.seed)
  const scheduler = createScheduler()
  const history: HistoryEntry[] = []
  const tell = (happening: Happening): void => void history.push({ at: scheduler.now(), ...happening })
  const hit = (): void => {}
  const faults = createFaults({
    scheduler,
    random: random.fork('faults'),
    kinds: new Set(),
    rate: 0,
    longestCallMs: scene.longestCallMs,
    hit,
  })
  const world = createWorld({ scene, scheduler, random: random.fork('world'), tell, hit })
  const until = async (done: () => boolean): Promise<void> => {
    const isDone = await scheduler.run({ done, untilMs: scheduler.now() + LONGEST_MS, mostTurns: 300_000 })
    if (!isDone) throw new Error('what the test waits for has not come to be')
  }
  const ways: QuietWay[] = []
  function connect(): { host: Host; transport: Transport } {
    const host = createHost({ name: `sluice-${ways.length}`, scheduler, originMs: 0, wallOffsetMs: 0 })
    const network = createNetwork({ scheduler, random: random.fork(`network of ${host.name}`), host, world, faults })
    const way = quietWay(network, { scheduler, host })
    ways.push(way)
    return { host, transport: way.transport }
  }
  await until(() => {
    const pods = world.pods()
    return pods.length === scene.pods && pods.every(isReady)
  })
  world.balance()
  const person = connect()

  return {
    world,
    history,
    client: createKubeClient({ transport: person.transport, clock: person.host.clock, random: random.fork('person') }),
    start(change = {}, prepare) {
      const { host, transport } = connect()
      let end: ProcessEnd | undefined
      const events: RunEvent[] = []
      const request: RunRequest = {
        namespace: NAMESPACE,
        select: { refs: [idNamed(scene.workload, NAME)] },
        images: [],
        settings: PLAIN_SETTINGS,
        acceptTemplateDrift: false,
        allowUnbalanced: false,
        ...change,
      }
      const wanted = Object.fromEntries(request.images.map(({ container, image }) => [container, image]))
      tell({ type: 'process', process: host.name, what: 'started', wanted })
      const process = startProcess({
        host,
        transport,
        random: random.fork(host.name),
        request,
        ...(prepare ? { prepare } : {}),
        loadBalancers: Array.from(world.balancers.values(), (balancer) => {
          const wire = createWire({
            scheduler,
            random: random.fork(balancer.name),
            host,
            faults,
            balancer: balancer.name,
            tell,
          })
          const adapter = createSimulatedAdapter({ balancer, wire, process: host.name })
          return { name: balancer.name, adapterName: 'simulated', adapter, port: PORT, drainTurn: world.turnOf(balancer.name) }
        }),
        documents: world.documents,
        onEvent: (event) => void events.push(event),
        onEnd(one) {
          end = one
          const outcome = `${one.outcome}: ${one.reason}`
          tell({ type: 'process', process: host.name, what: 'exited', outcome, pods: one.pods })
        },
        onBug(error) {
          throw error
        },
      })
      return {
        ...process,
        events,
        get end() {
          return end
        },
      }
    },
    until,
    stopBalancer: (name, forMs) => faults.stopBalancer(name, forMs),
    stopApiServer: (forMs) => faults.stopApiServer(forMs),
    silenceApiServer(forMs, what = 'everything') {
      for (const way of ways) way.silence(forMs, what)
    },
    async pass(ms) {
      const at = scheduler.now() + ms
      let isOver = false
      scheduler.after(ms, () => (isOver = true))
      await until(() => isOver || scheduler.now() > at)
    },
    async ask(call) {
      let isAnswered = false
      void Promise.allSettled([call]).then(() => (isAnswered = true))
      await until(() => isAnswered)
      return call
    },
  }
}

export function isReady({ status }: Record<string, unknown>): boolean {
  const { conditions = [], podIP } = (status ?? {}) as { conditions?: { type: string; status: string }[]; podIP?: string }
  return podIP !== undefined && conditions.some((one) => one.type === 'Ready' && one.status === 'True')
}
