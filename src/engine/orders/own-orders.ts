import type { KubeClient } from '../../kube/client.ts'
import { pause } from '../../kube/pause.ts'
import type { WorkloadId } from '../../pods/workload-id.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Kinds } from '../../workloads/kinds/kinds.ts'
import { LOOK_EVERY_MS } from '../../leases/lease.ts'
import { assertLeased, giveOrder, liftPause } from './give-order.ts'
import type { Given } from './obedience.ts'
import { readOpenRuns } from './open-runs.ts'

/** An order that the process of a run can give it. */
export type OwnOrder = 'pause' | 'resume' | 'abort'

/** The run has ended, and takes no orders any more. */
export class RunOverError extends Error {
  override readonly name = 'RunOverError'
  readonly component = 'engine'
  constructor() {
    super('the run is at its end, and hears no order any more')
  }
}

/**
 * The orders that a run gets from its own process. A pause and an abort count at once, a resume once it is written. Each order is also
 * written to the Leases, where a later owner of the run finds it.
 */
export interface OwnOrders {
  /** The order that counts for the run: the order on the Leases, overridden by a local order that is not written yet. */
  counting(standing: Given | undefined): Given | undefined
  /**
   * Resolves once the order is on the Leases, or an abort has ended the run. Rejects with a RunOverError after the end of the run, and with
   * a RunError or a KubeError where the order could not be written. A pause or an abort that could not be written still counts in this
   * process. Such a pause holds until a local resume is written, since no other process knows of it.
   */
  give(order: OwnOrder, by: string): Promise<void>
  /**
   * Reports whether an order of this process may still reach the Leases, or a resume was not read there yet. `onOrder` is called once that
   * is over.
   */
  isWriting(): boolean
  /** Resolves once the orders that other parts of this process have written to the Leases count, without a wait for the next renewal. */
  hear(): Promise<void>
  /** The run is on record, and takes the orders on its Leases. */
  begin(run: BegunRun): void
  /** The outcome of the run is decided. */
  end(): void
}

export interface BegunRun {
  run: string
  /** The workloads whose Leases this process has. */
  refs: readonly WorkloadId[]
  /** Reads the Leases anew. Resolves with false where they could not be read. */
  hear(): Promise<boolean>
  /** Called when the order that counts may have changed. */
  onOrder(): void
}

export interface OwnOrdersOptions {
  client: KubeClient
  clock: Clock
  namespace: string
  kinds: Kinds
}

export function createOwnOrders({ client, clock, namespace, kinds }: OwnOrdersOptions): OwnOrders {
  const beginning = Promise.withResolvers<BegunRun>()
  // The rejection is expected where no order was given.
  beginning.promise.catch(() => {})
  const over = new AbortController()
  let begun: BegunRun | undefined
  /** The local order that counts, written or not. */
  let local: Given | undefined
  let writing: Promise<void> = Promise.resolve()
  /** The number of orders that `isWriting` counts. */
  let unwritten = 0

  async function write(order: OwnOrder, by: string): Promise<void> {
    const { run, refs } = await beginning.promise
    const open = await readOpenRuns(client, { namespace, select: { refs: [...refs] }, kinds })
    if (over.signal.aborted || !open.runs.some((one) => one.run === run)) {
      // The abort counted locally from the beginning, and has ended the run.
      if (order === 'abort') return
      throw new RunOverError()
    }
    if (order === 'resume') await liftPause(open, { client, namespace })
    else {
      assertLeased(open)
      await giveOrder(open, { order, by }, { client, namespace })
    }
  }

  /** Keeps the local order until this owner has read it from the Leases. Without that, no order would count in between. */
  async function heard(order: OwnOrder, given: Given | undefined): Promise<void> {
    let isHeard = await (begun?.hear() ?? true)
    // A rest need not wait until a written pause is read. A lifted pause ends no wait until it is read.
    const isEarly = !isHeard && order !== 'resume'
    if (isEarly) arrived()
    while (!isHeard) {
      await pause(clock, LOOK_EVERY_MS, over.signal)
      isHeard = await (begun?.hear() ?? true)
    }
    if (local === given) local = undefined
    if (isEarly) begun?.onOrder()
    else arrived()
  }

  function arrived(): void {
    unwritten -= 1
    begun?.onOrder()
  }

  return {
    counting(standing) {
      // An abort is never taken back.
      return standing?.order === 'abort' ? standing : (local ?? standing)
    },
    async give(order, by) {
      if (over.signal.aborted) throw new RunOverError()
      // A resume counts once no Lease has the pause, so that all processes agree.
      const given = order === 'resume' || local?.order === 'abort' ? local : { order, by }
      local = given
      unwritten += 1
      begun?.onOrder()
      // The writes go one after another, so that the last order given is the last one on the Leases.
      const mine = writing.then(() => write(order, by))
      writing = mine.catch(() => {})
      try {
        await mine
      } catch (error) {
        arrived()
        throw error
      }
      void heard(order, given)
    },
    isWriting: () => unwritten > 0,
    async hear() {
      await begun?.hear()
      begun?.onOrder()
    },
    begin(run) {
      begun = run
      beginning.resolve(run)
    },
    end() {
      over.abort()
      begun = undefined
      beginning.reject(new RunOverError())
    },
  }
}
