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

/** As long as pods that are patched already may take to come home after an interrupt. */
export const GRACE_MS = 5_000

/** A run that has begun: its preparation first, then the upgrade. */
export interface Run {
  /** Resolves once the plan is made, and is about to be carried out; rejects as `result` does where there is none. */
  readonly plan: Promise<PlannedUpgrade>
  /**
   * Everything that the run tells. Each iteration gets the events from the beginning, or of a long run the newest 50,000, at its own
   * pace, and ends with the run. A consumer that falls further behind gets an EventsLostError.
   */
  readonly events: AsyncIterable<RunEvent>
  /**
   * How the run ended, also where it was refused or interrupted. Rejects with a typed error where it could not be prepared, or broke off
   * without a result: no process of yours ends for a rejection that nobody looks at.
   */
  readonly result: Promise<RunResult>
  /**
   * Starts no new pod, from now on; pods under way come home. Resolves once that stands on the Lease too, so that it holds for whoever
   * goes on with the run; with `endWhenPaused` the run ends only then. Rejects with a RunOverError where the run has ended, and with a
   * KubeError or a RunError where it could not be written: the run is paused all the same, or ends so, and the same request goes on.
   */
  pause(): Promise<void>
  /**
   * Takes a pause off, also one that another process has given. A run that is not paused goes on as it does. Rejects as `pause` does,
   * and the run may stay paused then: a pause of this handle that was not written holds until a resume of this handle is written.
   */
  resume(): Promise<void>
  /**
   * Ends the run: puts back what is not patched, brings home what is, and gives the template its former images. Never taken back.
   * Resolves once that stands on the Lease, or has ended the run; `result` tells what came of it. Rejects as `pause` does.
   */
  abort(): Promise<void>
  /**
   * Ends this process's part in the run: starts no new pod, puts back what is drained and not patched, gives patched pods `graceMs` to
   * come home, and leaves the rest for whoever goes on with the run. The outcome is `interrupted`. While the run is being prepared
   * `plan` and `result` reject with a RunInterruptedError. Throws a RequestError where `graceMs` is no duration.
   */
  interrupt(graceMs?: number): void
}

/** What a handle is made of. */
export interface RunSource {
  request: UpgradeRequest
  prepare(ports: { signal: AbortSignal; onEvent(event: RunEvent): void }): Promise<PreparedRun>
  /** Throws where the plan is not to be carried out. */
  accept(plan: Plan): void
  /** Names who gives the orders of the handle. */
  by: string
  /** Told of each event, beside the handle's own consumers. */
  onEvent(event: RunEvent): void
  /** Told what is still being closed once the run has ended. */
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
      // Between its last look at the signal and now.
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
