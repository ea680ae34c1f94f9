import type { Plan } from '../plan/plan.ts'
import { timedClient } from '../kube/timed-client.ts'
import { unlessAborted } from '../kube/unless-aborted.ts'
import { WorkloadError } from '../workloads/errors.ts'
import { createAccount } from './account.ts'
import type { RunEventBody, RunResult } from './events.ts'
import { type AcceptPlan, createExecution } from './execution.ts'
import { leftOfGone } from './ledgers/left-of-gone.ts'
import { leftOpen } from './ledgers/left-open.ts'
import { namingUnfinished } from './ledgers/naming-unfinished.ts'
import { checkLocks, checkRights } from './preflight.ts'
import type { RunPorts, RunRequest } from './request.ts'
import { seeLeases, seeOthers } from './leases/see-leases.ts'
import type { OwnOrder } from './orders/own-orders.ts'
import { standingOrders } from './orders/standing-orders.ts'
import { untilPrepared } from './until-prepared.ts'
import { observeWorld } from './world.ts'

export type { LoadBalancer, RunPorts, RunRequest } from './request.ts'
export type { RunSettings } from './settings.ts'

export interface LeaseHolder {
  lease: string
  holder: string
}

export interface PreparedRun {
  /** The plan of the run. A plan with refusals makes `execute` refuse. Making the plan changes nothing. */
  plan: Plan
  /** The holders of the Leases that the run would take. A holder may be at work, or may be dead. Bare pods have no entry. */
  holders: readonly LeaseHolder[]
  /**
   * Takes the Lease, writes the ledger, and upgrades. Can be called once. `accept` receives each plan before it is carried out, including
   * the plan that is made anew after the Lease is taken. An error that `accept` throws ends the run before any change.
   */
  execute(accept?: AcceptPlan): Promise<RunResult>
  /** Pauses, resumes or aborts the run. The order is durable once the promise resolves, as for `give` of OwnOrders. */
  order(order: OwnOrder, by: string): Promise<void>
  /** Resolves once the orders that this process has written to the Leases for any of their runs count for this run. */
  hear(): Promise<void>
  /**
   * The first interrupt. The run starts no new pod, restores pods that are drained and not patched, and gives patched pods up to `graceMs`
   * to come home. Then the run stops, and `execute` resolves with the outcome `interrupted`.
   */
  interrupt(graceMs: number): void
  /** Ends the watches. Does not close the load balancers or the client. */
  close(): Promise<void>
}

/**
 * Observes the world and plans. Rejects with a typed error that names the obstacle, such as an unknown workload or a missing right. An
 * abort of the signal before the promise resolves ends the call at once with the signal's reason, and closes all that the call has opened.
 */
export async function prepareRun(request: RunRequest, ports: RunPorts, signal?: AbortSignal): Promise<PreparedRun> {
  if (signal === undefined) return prepare(request, ports)
  signal.throwIfAborted()
  const { ports: cut, release } = untilPrepared(ports, signal)
  const preparing = prepare(request, cut)
  try {
    const prepared = await unlessAborted(preparing, signal)
    release()
    return prepared
  } catch (error) {
    // A load balancer that is being asked cannot be cut. The run is closed once the answer arrives, after the caller has its error.
    preparing.then(
      (prepared) => prepared.close(),
      () => {},
    )
    throw error
  }
}

async function prepare(request: RunRequest, given: RunPorts): Promise<PreparedRun> {
  const { clock, onEvent } = given
  const beganAt = clock.now()
  const account = createAccount()
  const atMs = (): number => Math.round(clock.now() - beganAt)
  const tell = (body: RunEventBody): void => {
    const event = { ...body, atMs: atMs(), wallAt: new Date(clock.wallNow()).toISOString() }
    account.note(event)
    onEvent(event)
  }
  const ports = { ...given, client: timedClient(given.client, clock, (call) => tell({ type: 'apiCall', ...call })) }

  // The rights are checked first: the refusal of an API server, or an error to reach it, is clearer here than in a list that is retried.
  const unasked = await checkRights(ports.client, { ...request, kinds: ports.kinds })
  const locksUnasked = await checkLocks(ports.loadBalancers)
  for (const reason of [unasked, ...locksUnasked]) if (reason !== undefined) tell({ type: 'warning', reason })
  const seen = await seeLeases(request, ports)
  const world = await observeWorld(request, ports, tell).catch((error: unknown) => throwNaming(error, request, ports))
  const execution = createExecution({ request, ports, world, seen, tell, account, atMs })
  // A run with an abort carries an order out, and shows no standing orders.
  const now = await seeOthers(seen, world, request, ports)
  const ordered = request.abort ? [] : await standingOrders(now, { request, world }, ports)
  const made = { ...world.plan(), warnings: [...world.plan().warnings, ...ordered] }
  // A label selector that matches no pod gives the run no workload.
  const left = world.workloads.length === 0 ? leftOfGone : leftOpen
  const plan =
    made.refusals.length === 0
      ? made
      : { ...made, refusals: [...made.refusals, ...(await left(ports.client, request.namespace, world))] }
  tell({ type: 'planned', plan })
  return {
    plan,
    holders: Array.from(now, ([lease, { record }]) => ({ lease, holder: record.holder })).filter(({ holder }) => holder !== ''),
    execute: (accept = () => {}) => execution.run(accept),
    order: execution.order,
    hear: execution.hear,
    interrupt: (graceMs) => {
      tell({ type: 'interrupting', graceMs })
      execution.interrupt(graceMs)
    },
    close: () => world.stop(),
  }
}

/** Adds to the error for a missing pod the pods that an earlier run has left out of rotation. */
async function throwNaming(error: unknown, { namespace, select }: RunRequest, { client }: RunPorts): Promise<never> {
  const isNamed = 'refs' in select && error instanceof WorkloadError
  throw isNamed ? await namingUnfinished(error, { client, namespace, refs: select.refs }) : error
}
