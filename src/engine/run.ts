import type { Adapter } from '../../adapters/contract.ts'
import type { KubeClient } from '../kube/client.ts'
import type { ContainerImage } from '../pods/glossary.ts'
import type { Plan, WorkloadRef } from '../plan/plan.ts'
import type { Clock } from '../ports/clock.ts'
import type { Random } from '../ports/random.ts'
import type { RunEvent, RunEventBody, RunResult } from './events.ts'
import { createExecution } from './execution.ts'
import { checkRights } from './preflight.ts'
import type { RunSettings } from './settings.ts'
import { observeWorld } from './world.ts'

export type { RunSettings } from './settings.ts'

/** One configured load balancer, with its adapter made. */
export interface LoadBalancer {
  name: string
  /** Name of the adapter, for display. */
  adapterName: string
  adapter: Adapter
  /** Container port, by number or name. */
  port: number | string
}

export interface RunRequest {
  namespace: string
  /** Either workloads and pods by name, or pods by label selector. */
  select: { refs: Pick<WorkloadRef, 'kind' | 'name'>[] } | { labelSelector: string }
  /** Empty: bring the pods to their workload's own template. */
  images: ContainerImage[]
  settings: RunSettings
  /** Patch the pods of a Deployment though its template then differs. */
  acceptTemplateDrift: boolean
  /** Upgrade pods that are in none of the load balancers, without a drain. */
  allowUnbalanced: boolean
}

/** Everything from outside, given at one place. */
export interface RunPorts {
  client: KubeClient
  loadBalancers: LoadBalancer[]
  clock: Clock
  random: Random
  /** Names this process in the Lease, such as HOST_PID. */
  identity: string
  onEvent: (event: RunEvent) => void
}

export interface PreparedRun {
  /** What would be done; with refusals, `execute` refuses. Nothing was touched to make it. */
  plan: Plan
  /** Takes the Lease, writes the ledger, and upgrades. Once only. */
  execute(): Promise<RunResult>
  /**
   * First interrupt: start no new pod, put back what is drained and not patched, give patched pods up to `graceMs` to
   * come home, then checkpoint; `execute` resolves with outcome `interrupted`.
   */
  interrupt(graceMs: number): void
  /** Ends watches. Does not close load balancers or the client. */
  close(): Promise<void>
}

/** Looks at the world and plans. Rejects with a typed error that names what is wrong (unknown workload, no right). */
export async function prepareRun(request: RunRequest, ports: RunPorts): Promise<PreparedRun> {
  const { clock } = ports
  const beganAt = clock.now()
  const tell = (body: RunEventBody): void =>
    ports.onEvent({ ...body, atMs: Math.round(clock.now() - beganAt), wallAt: new Date(clock.wallNow()).toISOString() })

  await checkRights(ports.client, request)
  const world = await observeWorld(request, ports, tell)
  const execution = createExecution({ request, ports, world, tell })
  tell({ type: 'planned', plan: world.plan })
  return {
    plan: world.plan,
    execute: () => execution.run(),
    interrupt: (graceMs) => {
      tell({ type: 'interrupting', graceMs })
      execution.interrupt(graceMs)
    },
    close: () => world.stop(),
  }
}
