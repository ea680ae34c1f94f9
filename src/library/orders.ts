import type { Reason } from '../reasons/reason.ts'
import { RunError } from '../engine/errors.ts'
import { assertLeased, giveOrder, liftPause } from '../engine/orders/give-order.ts'
import { awaitOpenRuns, forOpenRuns, type OpenRuns, type OpenRunsRequest } from '../engine/orders/open-runs.ts'
import { orderAbort, type OrderedAbort } from '../engine/orders/order-abort.ts'
import { findUnrecorded, type Unrecorded } from '../engine/unrecorded.ts'
import type { MixedWorkload } from '../journal/ledger.ts'
import type { KubeClient } from '../kube/client.ts'
import type { WorkloadId } from '../pods/workload-id.ts'
import type { Clock } from '../ports/clock.ts'
import type { Kinds } from '../workloads/kinds/kinds.ts'
import { askedForHolder } from './asked-for-holder.ts'
import type { AbortOptions, RunOptions } from './options.ts'
import type { Ordered } from './ordered.ts'
import type { Run } from './run.ts'

/** A pause, or the end of a pause, as the Leases record it now. The process of a run notices it within seconds. */
export interface GivenOrder extends Ordered {
  outcome: 'ordered'
  /** The giver of the pause; of several pauses, the giver of the first. */
  by: string
  /** Open runs that are being aborted; the order does not change them. */
  aborted: readonly string[]
  /** Those of `runs` that undo another run. */
  undoes: readonly string[]
}

/** No run is open. `unrecorded` lists the half-finished work that an abort has found nevertheless. */
export interface NoOrder extends Ordered {
  outcome: 'none'
  unrecorded: readonly Unrecorded[]
}

/**
 * The result of an order to abort.
 * - `none`: no run is open
 * - `ordered`: the Leases record the order, and the caller did not wait for its effect
 * - `finished`: the runs had ended before the order reached them
 * - `aborted`: the process of the runs has ended them. `templatesLeft` gives the reasons for templates that were left unchanged; `mixed`
 *   lists the workloads whose pods have other images than the template, which has its former images again
 * - `abandoned`: no living process has the runs; `end` ends them in this process
 */
export type Abort =
  | NoOrder
  | (Ordered & { outcome: 'ordered' | 'finished' })
  | (Ordered & {
      outcome: 'aborted'
      templatesLeft: readonly Reason[]
      mixed: readonly MixedWorkload[]
      concerned: readonly WorkloadId[]
    })
  | (Ordered & { outcome: 'abandoned'; end(options?: RunOptions): Run })

export interface OrderPorts {
  client: KubeClient
  clock: Clock
  /** The giver of the order, for display. */
  by: string
  signal: AbortSignal
}

export type About = OpenRunsRequest & { kinds: Kinds }

export function orderedOf(open: OpenRuns): Ordered {
  const holder = askedForHolder(open)
  return {
    asked: open.asked,
    workloads: open.refs,
    runs: open.runs.map(({ run }) => run),
    ...(holder === undefined ? {} : { holder }),
  }
}

export async function pauseRuns(about: About, ports: OrderPorts): Promise<GivenOrder | NoOrder> {
  return give(about, ports, async (open) => {
    assertLeased(open)
    const runs = await giveOrder(open, { order: 'pause', by: ports.by }, { client: ports.client, namespace: about.namespace })
    return { runs, by: ports.by, aborted: open.runs.flatMap(({ run }) => (runs.includes(run) ? [] : [run])) }
  })
}

export async function resumeRuns(about: About, ports: OrderPorts): Promise<GivenOrder | NoOrder> {
  let by: string | undefined
  /** The runs whose pause was lifted. A second pass no longer finds the pauses that the first pass has lifted. */
  const runs = new Set<string>()
  return give(about, ports, async (open) => {
    const lifted = await liftPause(open, { client: ports.client, namespace: about.namespace })
    by ??= lifted?.by
    for (const run of lifted?.runs ?? []) runs.add(run)
    if (by === undefined) throw new RunError('preflight', { code: 'not-paused', asked: open.asked })
    return { runs: [...runs], by, aborted: lifted?.aborted ?? [] }
  })
}

type Given = Pick<GivenOrder, 'runs' | 'by' | 'aborted'>

async function give(
  about: About,
  { client, clock, signal }: OrderPorts,
  act: (open: OpenRuns) => Promise<Given>,
): Promise<GivenOrder | NoOrder> {
  const found = await awaitOpenRuns(client, about, clock, signal)
  if (found.runs.length === 0) return { outcome: 'none', unrecorded: [], ...orderedOf(found) }
  let given: Given | undefined
  const open = await forOpenRuns(client, about, found, async (all) => {
    given = await act(all)
  })
  const { runs } = given!
  const undoes = open.runs.flatMap(({ run, undoes: taken }) => (runs.includes(run) && taken !== undefined ? [run] : []))
  return { ...orderedOf(open), ...given!, outcome: 'ordered', undoes }
}

/** Orders the abort, and waits for the process that has the runs. `end` ends runs that no living process has. */
export async function abortRuns(
  about: About,
  { client, clock, by, signal }: OrderPorts,
  options: AbortOptions,
  end: (left: Extract<OrderedAbort, { kind: 'left' }>, options?: RunOptions) => Run,
): Promise<Abort> {
  const { wait = true, onOrdered, onWaiting } = options
  const ordered = await orderAbort(
    {
      ...about,
      by,
      wait,
      onOrdered: (open) => onOrdered?.(orderedOf(open)),
      onLook: (open, holder) => onWaiting?.(orderedOf(open), holder),
    },
    { client, clock, signal, kinds: about.kinds },
  )
  const base = orderedOf(ordered.open)
  if (ordered.kind === 'none') {
    const unrecorded = await findUnrecorded({
      client,
      clock,
      kinds: about.kinds,
      namespace: about.namespace,
      refs: ordered.open.refs,
    })
    return { ...base, outcome: 'none', unrecorded }
  }
  if (ordered.kind === 'ordered') return { ...base, outcome: 'ordered' }
  if (ordered.kind === 'left') return { ...base, outcome: 'abandoned', end: (own) => end(ordered, own) }
  const aborted = ordered.records.flatMap((header) => header.aborted ?? [])
  if (aborted.length === 0) return { ...base, outcome: 'finished' }
  const concerned = ordered.records.flatMap(({ workloads }) => workloads)
  const mixed = aborted.flatMap((one) => one.mixed ?? [])
  return { ...base, outcome: 'aborted', templatesLeft: aborted.flatMap((one) => one.left), mixed, concerned }
}
