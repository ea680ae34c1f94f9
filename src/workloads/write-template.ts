import type { Reason, ReasonOf } from '../reasons/reason.ts'
import type { Awaited } from '../reasons/template-reasons.ts'
import type { PatchOperation } from '../kube/client.ts'
import { isNotFound, isUnauthorized, KubeError, apiReason } from '../kube/errors.ts'
import { backoffMs, pause } from '../kube/pause.ts'
import type { ContainerImage } from '../pods/glossary.ts'
import { WorkloadError, namingTheRight } from './errors.ts'
import { type ExpectedTemplate, deviation, expectTemplate } from './expected-template.ts'
import type { OpenOptions } from './open-options.ts'
import { differences } from './template-difference.ts'
import { fenceGuard, fenceOf, setFence } from './fence.ts'
import { templatePatch, withImages } from './pod-template.ts'
import { type WorkloadRecord, workloadRecord } from './records.ts'
import type { Resource } from './resources.ts'
import { displayName } from '../pods/workload-id.ts'

/** Refused this often on an object on which every guard holds, it is the new template that the server does not take. */
const REFUSALS_UNTIL_INVALID = 2
const CALL_DEADLINE_MS = 15_000
/** For an API server that has just begun, and does not know yet what anybody may do. */
const UNAUTHORIZED_UNTIL_FATAL_MS = 10_000

function isRefusal(error: unknown): error is WorkloadError {
  return error instanceof WorkloadError && (error.kind === 'forbidden' || error.kind === 'invalid')
}

export interface TemplateWrite {
  options: OpenOptions
  resource: Resource
  /** The template that the plan was made on. */
  planned: ExpectedTemplate
  images: readonly ContainerImage[]
  uid: string
  newest: () => WorkloadRecord | undefined
  observe: (raw: unknown) => WorkloadRecord
  signal: AbortSignal
  isOwned: () => Promise<boolean | undefined>
  fence: string | undefined
  deadlineAt: number
  onProgress: (reason: Reason) => void
  deadlineError: (waiting: ReasonOf<Awaited>, cause?: unknown) => WorkloadError
}

/**
 * Puts the images into the template, unless it has them. Resolves once a version with them was seen, whatever became of
 * the answers; every try is guarded, so that a late one cannot undo what came after it, nor one of another owner be late.
 */
export async function writeTemplate(write: TemplateWrite): Promise<void> {
  const { options, resource, planned, images, signal, onProgress } = write
  const { client, clock, random } = options
  const { ref } = planned
  const wanted: ExpectedTemplate = { ...planned, template: withImages(planned.template, images) }
  const path = resource.object(ref.namespace, ref.name)
  /** Of the version that its last template patch was guarded by: once it is another, none before it is carried out. */
  let sentAt: number | undefined
  let failures = 0
  let refusals = 0
  let last: KubeError | undefined
  let unauthorizedSince: number | undefined

  for (;;) {
    signal.throwIfAborted()
    if (isDone(write.newest())) return
    // Found by reading: its guards held again, and it brought back what an undo had taken away.
    const isOwned = await write.isOwned()
    if (isOwned === false) throw new WorkloadError('conflict', { code: 'owner-changed', workload: displayName(ref) })
    // Found by a reviewer: the Lease could not be renewed while the API server was away, an abort took that for another owner's, and
    // was over with the images in the template that it was to take back.
    if (isOwned === undefined) {
      await wait(last)
      continue
    }
    const isThere = deviation(wanted, write.newest()) === undefined
    const workload = isThere ? write.newest()! : expectTemplate(planned, write.newest())
    const operations = isThere ? [setFence(workload, write.fence!)] : templatePatch(planned.template, images)
    if (!isThere) sentAt = workload.generation
    const deadlineMs = remaining()
    let stored: unknown
    try {
      // A 429 is waited out here, where all is asked anew.
      stored = await client.patch(path, [...guards(workload), ...operations], { signal, deadlineMs, once: true })
    } catch (error) {
      try {
        await resolveFailure(error, workload)
      } catch (failure) {
        if (!isThere || !isRefusal(failure)) throw failure
        // Nothing else was to be written: whoever freezes the workload stops a late patch, too.
        onProgress({ code: 'fence-not-set', because: failure.reason })
        return
      }
      continue
    }
    // Admission may rewrite what it stores; then the pods would be counted by a template that nobody asked for.
    expectAnswer(stored)
    write.observe(stored)
    if (!isThere) onProgress({ code: 'template-patched' })
  }

  function isDone(workload: WorkloadRecord | undefined): boolean {
    return workload !== undefined && deviation(wanted, workload) === undefined && isFenced(workload)
  }

  /** Whatever was written to its spec meanwhile, too, leaves no patch before it that could still be carried out. */
  function isFenced(workload: WorkloadRecord): boolean {
    return (
      write.fence === undefined || (sentAt !== undefined && workload.generation > sentAt) || fenceOf(workload) === write.fence
    )
  }

  function guards(workload: WorkloadRecord): PatchOperation[] {
    return [
      { op: 'test', path: '/metadata/uid', value: write.uid },
      // Found by simulation: one that nobody had answered arrived when an abort had put the former images back, on which all other
      // guards hold, and brought the new ones once more.
      { op: 'test', path: '/metadata/generation', value: workload.generation },
      fenceGuard(workload),
      // With another strategy, the same write would start a rollout.
      { op: 'test', path: '/spec/updateStrategy/type', value: planned.updateStrategy },
    ]
  }

  function expectAnswer(raw: unknown): void {
    const because = deviation(wanted, workloadRecord(raw))
    if (because !== undefined) throw new WorkloadError('conflict', { code: 'template-stored-otherwise', because })
  }

  function remaining(cause?: unknown): number {
    const remainingMs = write.deadlineAt - clock.now()
    if (remainingMs <= 0) throw write.deadlineError({ code: 'awaits-template-write' }, cause)
    return Math.min(CALL_DEADLINE_MS, remainingMs)
  }

  /** Returns where another look at the workload can help; throws where it cannot. */
  async function resolveFailure(error: unknown, { generation, annotations }: WorkloadRecord): Promise<void> {
    signal.throwIfAborted()
    if (!(error instanceof KubeError)) throw error
    if (isUnauthorized(error) && mayHaveJustBegun()) return wait(error)
    if (error.status === 401) throw error
    if (error.status === 403) throw namingTheRight(error, ['patch'], resource.name, ref.namespace)
    unauthorizedSince = undefined
    const neverAsked = error.kind === 'throttled' || (error.kind === 'definite' && error.status === undefined)
    if (neverAsked) return wait(error)
    // 404 and 409 tell as little as a missing answer; 422 is a guard that failed, or a template that is not valid.
    await readAgain()
    const newest = write.newest()
    if (isDone(newest)) return
    if (error.kind !== 'definite' || error.status === 404) return wait(error)
    // Scaled meanwhile, say.
    if (newest?.generation !== generation || differences(newest.annotations, annotations, '').length > 0) return
    refusals += 1
    const guardsHold = deviation(planned, newest) === undefined
    if (guardsHold && (error.status !== 422 || refusals >= REFUSALS_UNTIL_INVALID)) {
      const reason = { code: 'template-refused', workload: displayName(ref), because: apiReason(error) } as const
      throw new WorkloadError('invalid', reason, { cause: error })
    }
  }

  /** Until it was read; what it says is decided by the caller, from the newest version. */
  async function readAgain(): Promise<void> {
    for (;;) {
      try {
        const raw = await client.get(path, { signal, deadlineMs: remaining() })
        if (workloadRecord(raw).uid !== write.uid) throw replaced()
        write.observe(raw)
        return
      } catch (error) {
        signal.throwIfAborted()
        if (!(error instanceof KubeError)) throw error
        if (isNotFound(error)) throw replaced(error)
        if (!isUnauthorized(error)) unauthorizedSince = undefined
        else if (!mayHaveJustBegun())
          throw error.status === 401 ? error : namingTheRight(error, ['get'], resource.name, ref.namespace)
        await wait(error)
      }
    }
  }

  /** The API server, by how long it has said so. */
  function mayHaveJustBegun(): boolean {
    unauthorizedSince ??= clock.now()
    return clock.now() - unauthorizedSince < UNAUTHORIZED_UNTIL_FATAL_MS
  }

  function replaced(cause?: unknown): WorkloadError {
    return new WorkloadError('conflict', { code: 'workload-deleted', workload: displayName(ref) }, { cause })
  }

  async function wait(error: KubeError | undefined): Promise<void> {
    last = error
    failures += 1
    const delayMs = Math.max(backoffMs(random, failures), error?.retryAfterMs ?? 0)
    remaining(error)
    await pause(clock, Math.min(delayMs, Math.max(0, write.deadlineAt - clock.now())), signal)
    signal.throwIfAborted()
    remaining(error)
  }
}
