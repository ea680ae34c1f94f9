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

/** After this many refusals of an object on which every guard holds, the new template itself is not acceptable to the server. */
const REFUSALS_UNTIL_INVALID = 2
const CALL_DEADLINE_MS = 15_000
/** The time limit for authorization errors: a server that has just started may not know the rights of its users yet. */
const UNAUTHORIZED_UNTIL_FATAL_MS = 10_000

function isRefusal(error: unknown): error is WorkloadError {
  return error instanceof WorkloadError && (error.kind === 'forbidden' || error.kind === 'invalid')
}

export interface TemplateWrite {
  options: OpenOptions
  resource: Resource
  /** The template that the plan was based on. */
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
 * Writes the images into the template, unless it has them. Resolves when a version with them was observed, whatever the answers were. Every
 * try is guarded, so that a late one cannot revert a later change, nor overwrite the template of another owner.
 */
export async function writeTemplate(write: TemplateWrite): Promise<void> {
  const { options, resource, planned, images, signal, onProgress } = write
  const { client, clock, random } = options
  const { ref } = planned
  const wanted: ExpectedTemplate = { ...planned, template: withImages(planned.template, images) }
  const path = resource.object(ref.namespace, ref.name)
  /** The generation that guarded the last template patch. Once the workload has another generation, no earlier patch can take effect. */
  let sentAt: number | undefined
  let failures = 0
  let refusals = 0
  let last: KubeError | undefined
  let unauthorizedSince: number | undefined

  for (;;) {
    signal.throwIfAborted()
    if (isDone(write.newest())) return
    // The guards of a stopped process may hold again after an undo, and its patch would revert the undo.
    const isOwned = await write.isOwned()
    if (isOwned === false) throw new WorkloadError('conflict', { code: 'owner-changed', workload: displayName(ref) })
    // While the API server does not answer, the owner of the Lease is not known. Ending here would leave a template to the new owner that
    // an abort takes for its own.
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
      // `once`: the client does not retry a 429, because each retry must check the owner anew.
      stored = await client.patch(path, [...guards(workload), ...operations], { signal, deadlineMs, once: true })
    } catch (error) {
      try {
        await resolveFailure(error, workload)
      } catch (failure) {
        if (!isThere || !isRefusal(failure)) throw failure
        // A fence is the only write here. Whatever refuses the write of the workload also refuses a late patch.
        onProgress({ code: 'fence-not-set', because: failure.reason })
        return
      }
      continue
    }
    // Admission may rewrite the stored template; the controller would then count pods by a template that the run did not request.
    expectAnswer(stored)
    write.observe(stored)
    if (!isThere) onProgress({ code: 'template-patched' })
  }

  function isDone(workload: WorkloadRecord | undefined): boolean {
    return workload !== undefined && deviation(wanted, workload) === undefined && isFenced(workload)
  }

  /** True if no earlier patch can take effect any more: the fence is set, or a later write has changed the generation. */
  function isFenced(workload: WorkloadRecord): boolean {
    return (
      write.fence === undefined || (sentAt !== undefined && workload.generation > sentAt) || fenceOf(workload) === write.fence
    )
  }

  function guards(workload: WorkloadRecord): PatchOperation[] {
    return [
      { op: 'test', path: '/metadata/uid', value: write.uid },
      // A patch without an answer may arrive after an abort has restored the former images. All other guards hold then; the generation
      // differs.
      { op: 'test', path: '/metadata/generation', value: workload.generation },
      fenceGuard(workload),
      // Under another strategy, this write would start a rollout.
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

  /** Returns if another look at the workload can help; throws otherwise. */
  async function resolveFailure(error: unknown, { generation, annotations }: WorkloadRecord): Promise<void> {
    signal.throwIfAborted()
    if (!(error instanceof KubeError)) throw error
    if (isUnauthorized(error) && mayHaveJustBegun()) return wait(error)
    if (error.status === 401) throw error
    if (error.status === 403) throw namingTheRight(error, ['patch'], resource.name, ref.namespace)
    unauthorizedSince = undefined
    const neverAsked = error.kind === 'throttled' || (error.kind === 'definite' && error.status === undefined)
    if (neverAsked) return wait(error)
    // 404 and 409 tell as little as a missing answer. 422 is a failed guard, or an invalid template.
    await readAgain()
    const newest = write.newest()
    if (isDone(newest)) return
    if (error.kind !== 'definite' || error.status === 404) return wait(error)
    // The workload has changed, for example its scale, so a guard has failed.
    if (newest?.generation !== generation || differences(newest.annotations, annotations, '').length > 0) return
    refusals += 1
    const guardsHold = deviation(planned, newest) === undefined
    if (guardsHold && (error.status !== 422 || refusals >= REFUSALS_UNTIL_INVALID)) {
      const reason = { code: 'template-refused', workload: displayName(ref), because: apiReason(error) } as const
      throw new WorkloadError('invalid', reason, { cause: error })
    }
  }

  /** Reads the workload, with retries. The caller decides by the newest version. */
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

  /** True while authorization errors may come from an API server that has just started. */
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
