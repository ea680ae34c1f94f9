import type { KubeClient } from '../../kube/client.ts'
import { pause } from '../../kube/pause.ts'
import type { WorkloadId } from '../../pods/workload-id.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Kinds } from '../../workloads/kinds/kinds.ts'
import { LOOK_EVERY_MS } from '../leases/lease.ts'
import { assertLeased, giveOrder, liftPause } from './give-order.ts'
import type { Given } from './obedience.ts'
import { readOpenRuns } from './open-runs.ts'

/** What a run can be told by the process that it runs in. */
export type OwnOrder = 'pause' | 'resume' | 'abort'

/** The run is at its end, and hears no order any more. */
export class RunOverError extends Error {
  override readonly name = 'RunOverError'
  readonly component = 'engine'
  constructor() {
    super('the run is at its end, and hears no order any more')
  }
}

/**
 * Orders that a run is given by its own process. A pause and an abort count at once, a resume once it is written; each of them is
 * written to the Leases as one that another process gives: whoever goes on with the run finds it there.
 */
export interface OwnOrders {
  /** The order that counts for the run: what stands on the Leases, and over it what was given here and is not written yet. */
  counting(standing: Given | undefined): Given | undefined
  /**
   * Resolves once the order is on the Leases, or an abort has ended the run. Rejects with a RunOverError where the run has come to its
   * end, and with a RunError or a KubeError where the order could not be written: a pause and an abort count in this process all the same,
   * a resume does not. A pause that is not written holds until a resume that is given here is written: no other process knows of it.
   */
  give(order: OwnOrder, by: string): Promise<void>
  /**
   * An order of this process is neither on the Leases yet nor known not to come there, or is a resume that is not read there yet. Once
   * that is over, `onOrder` is called.
   */
  isWriting(): boolean
  /** What another part of this process has written to the Leases counts once this resolves, and not only from their next renewal on. */
  hear(): Promise<void>
  /** The run is on record, and hears orders that stand on its Leases. */
  begin(run: BegunRun): void
  /** How the run ends is decided. */
  end(): void
}

export interface BegunRun {
  run: string
  /** Whose Leases this process has. */
  refs: readonly WorkloadId[]
  /** Reads the Leases anew; false where they could not be read. */
  hear(): Promise<boolean>
  /** What counts may be another order than before. */
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
  // Where no order was given there is nobody to hear that none can be.
  beginning.promise.catch(() => {})
  const over = new AbortController()
  let begun: BegunRun | undefined
  /** What counts here, whether it is written or not. */
  let local: Given | undefined
  let writing: Promise<void> = Promise.resolve()
  /** As `isWriting` counts them. */
  let unwritten = 0

  async function write(order: OwnOrder, by: string): Promise<void> {
    const { run, refs } = await beginning.promise
    const open = await readOpenRuns(client, { namespace, select: { refs: [...refs] }, kinds })
    if (over.signal.aborted || !open.runs.some((one) => one.run === run)) {
      // It counted here from the beginning, and has ended the run.
      if (order === 'abort') return
      throw new RunOverError()
    }
    if (order === 'resume') await liftPause(open, { client, namespace })
    else {
      assertLeased(open)
      await giveOrder(open, { order, by }, { client, namespace })
    }
  }

  /** What is written counts here until this owner has read it there: in between it would be as if nothing had been ordered. */
  async function heard(order: OwnOrder, given: Given | undefined): Promise<void> {
    let isHeard = await (begun?.hear() ?? true)
    // A rest waits no longer for a pause that stands there, read or not; one that is lifted ends no run until that is read.
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
      // A resume counts once no Lease says that the run is paused: who reads that there must find it so.
      const given = order === 'resume' || local?.order === 'abort' ? local : { order, by }
      local = given
      unwritten += 1
      begun?.onOrder()
      // One after another: what is given last is what stands there last.
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
