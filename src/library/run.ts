import { z } from 'zod'
import type { RunEvent, RunResult } from '../engine/events.ts'
import { type OwnOrder, RunOverError } from '../engine/orders/own-orders.ts'
import type { PreparedRun } from '../engine/run.ts'
import type { Plan } from '../plan/plan.ts'
import { RunInterruptedError } from './errors.ts'
import { createEventLog } from './event-log.ts'
import { inWords } from './in-words.ts'
import type { RunOptions } from './options.ts'
import type { PlannedUpgrade } from './plan.ts'
import { grace } from './request/options.ts'
import { assertShape } from './request/parsed.ts'
import type { UpgradeRequest } from './request/upgrade-request.ts'

/** The default time that patched pods get to return to rotation after an interrupt. */
export const GRACE_MS = 5_000

/** A run that has begun: its preparation first, then the upgrade. */
export interface Run {
  /** Resolves when the plan is made and is about to be carried out. Rejects as `result` does if there is no plan. */
  readonly plan: Promise<PlannedUpgrade>
  /**
   * The events of the run. Each iteration gets the events from the beginning, or the newest 50,000 of a long run, at its own pace, and ends
   * with the run. A consumer that falls behind further gets an EventsLostError.
   */
  readonly events: AsyncIterable<RunEvent>
  /**
   * The result of the run, including a refused or interrupted run. Rejects with a typed error if the run could not be prepared, or ended
   * without a result. A rejection that the program does not handle does not end the process.
   */
  readonly result: Promise<RunResult>
  /**
   * Starts no new pod from now on; pods under way return to rotation. Resolves when the pause is on the Lease too, where it also holds for
   * a successor; `endWhenPaused` ends the run only then. Rejects with a RunOverError if the run has ended, and with a KubeError or a
   * RunError if the write failed; the run is paused nevertheless.
   */
  pause(): Promise<void>
  /**
   * Ends a pause, including the pause of another process. A run that is not paused simply goes on. Rejects as `pause` does; the run may
   * then stay paused, because an unwritten pause of this handle holds until a resume of this handle is written.
   */
  resume(): Promise<void>
  /**
   * Ends the run: restores drained pods that are not patched, brings patched pods back into rotation, and gives the template its former
   * images. An abort cannot be revoked. Resolves when the abort is on the Lease or has ended the run; `result` has the outcome. Rejects as
   * `pause` does.
   */
  abort(): Promise<void>
  /**
   * Ends this process's part of the run: starts no new pod, restores drained pods that are not patched, gives patched pods `graceMs` to
   * return, and leaves the rest to a later run. The outcome is `interrupted`; during the preparation, `plan` and `result` reject with a
   * RunInterruptedError. Throws a RequestError if `graceMs` is no duration.
   */
  interrupt(graceMs?: number): void
}

/** The parts of a handle. */
export interface RunSource {
  request: UpgradeRequest
  prepare(ports: { signal: AbortSignal; onEvent(event: RunEvent): void }): Promise<PreparedRun>
  /** Throws if the plan must not be carried out. */
  accept(plan: Plan): void
  /** The name of the giver of the orders of this handle. */
  by: string
  /** Called with each event, in addition to the handle's own consumers. */
  onEvent(event: RunEvent): void
  /** Called at the end of the run with the work that closes it. */
  onEnd(closing: Promise<void>): void
}

export function startRun(source: RunSource, { signal, graceMs = GRACE_MS }: RunOptions = {}): Run {
  const log = createEventLog()
  const preparing = new AbortController()
  const planned = Promise.withResolvers<{ run: PreparedRun; plan: PlannedUpgrade }>()
  let prepared: PreparedRun | undefined
  let isOver = false

  async function work(): Promise<RunResult> {
    try {
      preparing.signal.throwIfAborted()
      const run = await source.prepare({ signal: preparing.signal, onEvent: take })
      prepared = run
      // The signal may have fired since the preparation checked it last.
      preparing.signal.throwIfAborted()
      planned.resolve({ run, plan: { ...run.plan, request: source.request, holders: run.holders } })
      return await run.execute(source.accept)
    } catch (error) {
      planned.reject(inWords(error))
      throw error
    } finally {
      isOver = true
      signal?.removeEventListener('abort', onAbort)
      source.onEnd(Promise.resolve(prepared?.close()))
      log.end()
    }
  }

  function take(event: RunEvent): void {
    log.add(event)
    source.onEvent(event)
  }

  function stop(reason: unknown, forMs: number): void {
    if (isOver) return
    if (prepared === undefined) preparing.abort(reason)
    else prepared.interrupt(forMs)
  }

  const onAbort = (): void => stop(signal?.reason, graceMs)

  async function order(what: OwnOrder): Promise<void> {
    if (isOver) throw new RunOverError()
    const run = prepared ?? (await planned.promise).run
    await run.order(what, source.by).catch((error: unknown) => {
      throw inWords(error)
    })
  }

  if (signal?.aborted === true) preparing.abort(signal.reason)
  signal?.addEventListener('abort', onAbort)
  const result = work()
  const plan = planned.promise.then((one) => one.plan)
  for (const one of [result, plan]) one.catch(() => {})
  return {
    plan,
    events: log.events,
    result,
    pause: () => order('pause'),
    resume: () => order('resume'),
    abort: () => order('abort'),
    interrupt(forMs = graceMs) {
      assertShape(z.strictObject({ graceMs: grace }), { graceMs: forMs }, 'graceMs')
      stop(new RunInterruptedError(), forMs)
    },
  }
}
