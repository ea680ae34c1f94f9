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
  /** What would be done; with refusals, `execute` refuses. Nothing was touched to make it. */
  plan: Plan
  /** Who has a Lease that it would take: at work, or killed there. Of none of the bare pods. */
  holders: readonly LeaseHolder[]
  /**
   * Takes the Lease, writes the ledger, and upgrades. Once only. `accept` is told each plan that is about to be carried out, also the
   * one that is made anew once the Lease is had; what it throws ends the run, with nothing touched.
   */
  execute(accept?: AcceptPlan): Promise<RunResult>
  /** Pauses, resumes or aborts the run; durable once it resolves, as `give` of OwnOrders says. */
  order(order: OwnOrder, by: string): Promise<void>
  /** What this process has written to the Leases as an order to any of their runs counts for this one once it resolves. */
  hear(): Promise<void>
  /**
   * First interrupt: start no new pod, put back what is drained and not patched, give patched pods up to `graceMs` to
   * come home, then checkpoint; `execute` resolves with outcome `interrupted`.
   */
  interrupt(graceMs: number): void
  /** Ends watches. Does not close load balancers or the client. */
  close(): Promise<void>
}

/**
 * Looks at the world and plans. Rejects with a typed error that names what is wrong (unknown workload, no right). A signal that fires
 * before it resolves ends it at once, with the signal's reason, and nothing that it has opened stays open.
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
    // A load balancer that is being asked is waited for behind the back of the caller.
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

  // First: what a refused or unreachable API server says to this is clearer than a list that is tried again and again.
  const unasked = await checkRights(ports.client, { ...request, kinds: ports.kinds })
  const locksUnasked = await checkLocks(ports.loadBalancers)
  for (const reason of [unasked, ...locksUnasked]) if (reason !== undefined) tell({ type: 'warning', reason })
  const seen = await seeLeases(request, ports)
  const world = await observeWorld(request, ports, tell).catch((error: unknown) => throwNaming(error, request, ports))
  const execution = createExecution({ request, ports, world, seen, tell, account, atMs })
  // An abort is what is being carried out then.
  const now = await seeOthers(seen, world, request, ports)
  const ordered = request.abort ? [] : await standingOrders(now, { request, world }, ports)
  const made = { ...world.plan(), warnings: [...world.plan().warnings, ...ordered] }
  // By a label that no pod has it is about no workload.
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

/** Somebody who asks for pods of which one is gone must hear of it where an earlier run has left others out of rotation. */
async function throwNaming(error: unknown, { namespace, select }: RunRequest, { client }: RunPorts): Promise<never> {
  const isNamed = 'refs' in select && error instanceof WorkloadError
  throw isNamed ? await namingUnfinished(error, { client, namespace, refs: select.refs }) : error
}
