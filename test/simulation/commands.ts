import { reasonWords } from '../../src/report/words/words.ts'
import type { LoadBalancer as ConfiguredBalancer } from '../../src/engine/request.ts'
import type { RunPorts, RunRequest } from '../../src/engine/run.ts'
import { createKubeClient } from '../../src/kube/kube-client.ts'
import { prepareAbortCommand } from './abort-command.ts'
import { createSimulatedAdapter } from './adapter/simulated-adapter.ts'
import type { Happening } from './checker/history.ts'
import type { Faults } from './faults.ts'
import type { Host } from './host.ts'
import { createHost } from './host.ts'
import { NAMESPACE, PORT } from './manifests.ts'
import { createNetwork } from './network.ts'
import type { Person } from './person.ts'
import { createPerson } from './person.ts'
import type { SeededRandom } from './random.ts'
import { resolveAll } from './resolve-command.ts'
import type { Scheduler } from './scheduler.ts'
import type { ProcessEnd, SluiceProcess } from './sluice-process.ts'
import { startProcess } from './sluice-process.ts'
import { createWire } from './wire.ts'
import type { World } from './world.ts'

/** The commands that can be started in a scene, each on a host of its own. */
export interface Commands {
  /** Starts `sluice upgrade`, `sluice undo` or `sluice abort`, depending on the request. */
  start(command: StartedCommand, onEnd: (end: ProcessEnd) => void): SluiceProcess
  /** Runs `sluice resolve` for each of these pods, as an operator that has looked at the load balancers does. */
  resolve(pods: ProcessEnd['pods'], onEnd: () => void): void
  person: Person
}

export interface StartedCommand {
  command: 'upgrade' | 'abort'
  request: RunRequest
  /** The names of its pods, where the command is about a part of the pods. */
  part?: readonly string[] | undefined
}

export interface CommandsOptions {
  scheduler: Scheduler
  random: SeededRandom
  world: World
  faults: Faults
  /** Receives each host, in the order of their starts. */
  hosts: Host[]
  /** Called before each delivery to the process with this number, counted from 0. */
  onDelivery?: ((place: number, host: Host, random: SeededRandom) => void) | undefined
  select: RunRequest['select']
  tell(happening: Happening): void
  /** Adds details to the history for a human reader, which the checker does not need. */
  withDetails: boolean
  onBug(error: unknown): void
}

export function createCommands(options: CommandsOptions): Commands {
  const { scheduler, random, world, faults, hosts, select, tell, onDelivery } = options

  /** Creates the network between a host and the API server. */
  function connect(host: Host, stream: SeededRandom): ReturnType<typeof createNetwork> {
    return createNetwork({ scheduler, random: stream.fork('network'), host, world, faults })
  }

  function balancersFor(host: Host, stream: SeededRandom): ConfiguredBalancer[] {
    return Array.from(world.balancers.values(), (balancer) => {
      const { name } = balancer
      const wire = createWire({ scheduler, random: stream.fork(name), host, faults, balancer: name, tell })
      const adapter = createSimulatedAdapter({ balancer, wire, process: host.name })
      return { name, adapterName: 'simulated', adapter, port: PORT, drainTurn: world.turnOf(name) }
    })
  }

  function createPersonHere(): Person {
    const stream = random.fork('person')
    const host = createHost({ name: 'person', scheduler, originMs: 0, wallOffsetMs: 0 })
    const client = createKubeClient({ transport: connect(host, stream), clock: host.clock, random: stream.fork('client') })
    return createPerson({ host, client, request: { namespace: NAMESPACE, select } })
  }

  return {
    person: createPersonHere(),
    start({ command, request, part }, onEnd) {
      const place = hosts.length
      const stream = random.fork(`process ${place}`)
      const host = createHost({
        name: `sluice-${place}`,
        scheduler,
        originMs: stream.integer(0, 1_000_000),
        wallOffsetMs: stream.integer(-2_000, 2_000),
        ...(onDelivery === undefined ? {} : { onDelivery: (one) => onDelivery(place, one, stream) }),
      })
      hosts.push(host)
      const images = command === 'abort' ? [] : request.images
      const wanted = Object.fromEntries(images.map(({ container, image }) => [container, image]))
      tell({ type: 'process', process: host.name, what: 'started', wanted, ...(part === undefined ? {} : { part }) })
      return startProcess({
        host,
        transport: connect(host, stream),
        random: stream.fork('sluice'),
        request,
        ...(command === 'abort' ? { prepare: (ports: RunPorts) => prepareAbortCommand(request, ports) } : {}),
        loadBalancers: balancersFor(host, stream),
        documents: world.documents,
        onEvent(event) {
          if (event.type === 'podFinished') {
            const { uid, outcome, traffic } = event.result
            const left = traffic === 'leftOut' ? { leftOut: true as const } : {}
            tell({ type: 'told', process: host.name, uid, outcome, ...left })
          }
          if (!options.withDetails) return
          if (event.type === 'podState') {
            const { pod, from, to, waiting } = event
            const why = waiting === undefined ? '' : reasonWords(waiting)
            const words = `${pod} ${from === null ? '' : `${from} `}→ ${to} ${why}`
            tell({ type: 'said', process: host.name, words: words.trimEnd() })
          }
          if (event.type === 'warning') {
            const { pod, reason } = event
            tell({
              type: 'said',
              process: host.name,
              words: `warns: ${pod === undefined ? '' : `${pod}: `}${reasonWords(reason)}`,
            })
          }
        },
        onEnd,
        onBug(error) {
          options.onBug(error)
          onEnd({ outcome: 'unreachable', reason: `a bug: ${String(error)}`, pods: [] })
        },
      })
    },
    resolve(pods, onEnd) {
      const place = hosts.length
      const stream = random.fork(`process ${place}`)
      const host = createHost({ name: `sluice-${place}`, scheduler, originMs: 0, wallOffsetMs: 0 })
      hosts.push(host)
      tell({ type: 'process', process: host.name, what: 'started', wanted: {}, isWord: true })
      const client = createKubeClient({ transport: connect(host, stream), clock: host.clock, random: stream.fork('client') })
      async function run(): Promise<void> {
        const said = await resolveAll(pods, world, {
          client,
          clock: host.clock,
          random: stream.fork('engine'),
          identity: host.name,
        })
        tell({ type: 'process', process: host.name, what: 'exited', outcome: `resolved: ${said.join('; ')}`, pods: [] })
        onEnd()
      }
      host.deliver(() => void run())
    },
  }
}
