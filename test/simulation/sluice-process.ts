import { reasonWords } from '../../src/report/words/words.ts'
import { type ToldPod, toldPod } from './told.ts'
import { withinLocks } from '../../src/engine/locks/within-locks.ts'
import type { LoadBalancer, RunPorts } from '../../src/engine/request.ts'
import type { RunEvent, RunResult } from '../../src/engine/events.ts'
import type { OwnOrder } from '../../src/engine/orders/own-orders.ts'
import { reasonOf, RunError } from '../../src/engine/errors.ts'
import type { PreparedRun, RunRequest } from '../../src/engine/run.ts'
import { prepareRun } from '../../src/engine/run.ts'
import { createScopeQueues } from '../../src/engine/traffic/scope-queues.ts'
import { createObservation } from '../../src/observation/observation.ts'
import { KubeError } from '../../src/kube/errors.ts'
import { createKubeClient } from '../../src/kube/kube-client.ts'
import { pause } from '../../src/kube/pause.ts'
import type { Transport } from '../../src/kube/transport.ts'
import type { Host } from './host.ts'
import type { SeededRandom } from './random.ts'

/** The delay until a program repeats a resume that could not be written. */
const RESUME_AGAIN_MS = 2_000

/** The end of a process of sluice. A killed process has none. */
export interface ProcessEnd {
  outcome: RunResult['outcome'] | 'unreachable'
  reason: string
  pods: ToldPod[]
}

export interface SluiceProcess {
  readonly host: Host
  /** Interrupts the run as the first Ctrl-C does. */
  interrupt(): void
  /** Gives an order as a program does by the handle of its run. It has no effect before the run is prepared. */
  order(order: OwnOrder): void
}

export interface ProcessOptions {
  host: Host
  transport: Transport
  random: SeededRandom
  request: RunRequest
  /** Prepares another command than `sluice upgrade`. */
  prepare?: (ports: RunPorts) => Promise<PreparedRun>
  loadBalancers: LoadBalancer[]
  /** The documents of load balancers whose changes are made under a Lease, by the name of the balancer. */
  documents?: ReadonlyMap<string, string>
  onEvent(event: RunEvent): void
  onEnd(end: ProcessEnd): void
  /** Takes an error of an unknown type: a bug in sluice. */
  onBug(error: unknown): void
}

/** Runs `sluice upgrade` with its parsed arguments in one simulated process. */
export function startProcess(options: ProcessOptions): SluiceProcess {
  const { host, transport, random, request, documents } = options
  const prepare = options.prepare ?? ((ports: RunPorts) => prepareRun(request, ports))
  const { clock } = host
  const client = createKubeClient({ transport, clock, random: random.fork('client') })
  const engineRandom = random.fork('engine')
  const scope = random.fork('scope').chance(0.5) ? 'namespace' : 'request'
  const loadBalancers = options.loadBalancers.map((one) => {
    const document = documents?.get(one.name)
    return document === undefined ? one : { ...one, lock: { client, namespace: request.namespace, document } }
  })
  let prepared: PreparedRun | undefined
  let interrupted = false

  async function main(): Promise<ProcessEnd> {
    try {
      prepared = await prepare({
        client,
        observation: createObservation({ client, clock, random: engineRandom, scope }),
        loadBalancers: withinLocks(loadBalancers, { clock, random: random.fork('locks'), identity: host.name }),
        queues: createScopeQueues(clock),
        clock,
        random: engineRandom,
        identity: host.name,
        onEvent: (event) => {
          if (host.isAlive()) options.onEvent(event)
        },
      })
      const { refusals } = prepared.plan
      if (refusals.length > 0) return { outcome: 'refused', reason: refusals.map((one) => reasonWords(one)).join('; '), pods: [] }
      if (interrupted) prepared.interrupt(5_000)
      const { outcome, reason, pods } = await prepared.execute()
      return { outcome, reason: reasonWords(reason), pods: pods.map(toldPod) }
    } catch (error) {
      if (error instanceof KubeError) return { outcome: 'unreachable', reason: error.message, pods: [] }
      if (error instanceof RunError) return { outcome: 'refused', reason: reasonWords(error.reason), pods: [] }
      // An error of a load balancer, a workload or a watch is reported to the user as the reason why the run cannot begin.
      if (error instanceof Error && error.name.endsWith('Error') && error.name !== 'TypeError' && error.name !== 'Error')
        return { outcome: 'unreachable', reason: `${error.name}: ${reasonWords(reasonOf(error))}`, pods: [] }
      throw error
    } finally {
      await prepared?.close()
    }
  }

  async function conclude(): Promise<void> {
    try {
      const end = await main()
      if (host.isAlive()) options.onEnd(end)
    } catch (error) {
      if (host.isAlive()) options.onBug(error)
    }
  }

  /**
   * Gives an order. A pause that is not written counts in this process only, and no other process can lift it: a resume is repeated until
   * it is written.
   */
  async function give(order: OwnOrder): Promise<void> {
    for (;;) {
      try {
        return await prepared?.order(order, host.name)
      } catch (error) {
        if (!host.isAlive()) return
        if (!isToldToUser(error)) return options.onBug(error)
        if (order !== 'resume' || !isUnwritten(error)) return
        await pause(clock, RESUME_AGAIN_MS)
      }
    }
  }

  host.deliver(() => {
    void conclude()
  })

  return {
    host,
    interrupt() {
      host.deliver(() => {
        interrupted = true
        prepared?.interrupt(5_000)
      })
    },
    order(order) {
      host.deliver(() => void give(order))
    },
  }
}

/** Reports whether an error is of a known type, which names the failed component. */
function isToldToUser(error: unknown): boolean {
  return error instanceof Error && typeof (error as { component?: unknown }).component === 'string'
}

/** Reports whether an order was not written without being refused: it may be repeated. */
function isUnwritten(error: unknown): boolean {
  return error instanceof KubeError || (error instanceof RunError && error.kind === 'deadline')
}
