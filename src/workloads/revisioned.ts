import { apiReason, KubeError } from '../kube/errors.ts'
import type { ReasonOf } from '../reasons/reason.ts'
import type { Awaited } from '../reasons/template-reasons.ts'
import type { ContainerImage } from '../pods/glossary.ts'
import type { WorkloadRef } from '../plan/plan.ts'
import { assessRevisioned } from './assess-revisioned.ts'
import { createDriftWatch } from './drift-watch.ts'
import { WorkloadError } from './errors.ts'
import type { ExpectedTemplate } from './expected-template.ts'
import { podSelectionOf } from './label-selector.ts'
import type { OpenOptions } from './open-options.ts'
import { pinRevision } from './pin-revision.ts'
import { imageChanges, withImages } from './pod-template.ts'
import { type RevisionRecord, revisionRecord } from './records.ts'
import { CONTROLLER_REVISIONS, resourceOf } from './resources.ts'
import { displayName } from '../pods/workload-id.ts'
import { revisionLabelPatch } from './revision-label.ts'
import type { RevisionRules } from './revision-rules.ts'
import type { Kind } from './kinds/kind.ts'
import { differences } from './template-difference.ts'
import { ON_DELETE } from './update-strategy.ts'
import { watchWorkload } from './watch.ts'
import { goneAssessment } from './gone.ts'
import type { PrepareOptions, Workload } from './workload.ts'
import { writeTemplate } from './write-template.ts'

const TEMPLATE_DEADLINE_MS = 60_000

interface Revisioned {
  kind: Kind
  revisions: RevisionRules
}

/** The mechanism `revisioned`: patches the template first, then each pod together with the label of the new revision. */
export async function openRevisioned(
  ref: WorkloadRef,
  { kind, revisions: rules }: Revisioned,
  options: OpenOptions,
): Promise<Workload> {
  const resource = resourceOf(kind)
  const watch = await watchWorkload<RevisionRecord>(
    ref,
    {
      resource,
      childResource: CONTROLLER_REVISIONS,
      decodeChild: revisionRecord,
      ownerOf: ({ ownerUid }) => ownerUid,
    },
    options,
  )
  const { uid, changes, newest } = watch
  const drift = createDriftWatch(newest)
  changes.listen(drift.check)
  const owner = displayName(ref)
  const deadlineMs = options.templateDeadlineMs ?? TEMPLATE_DEADLINE_MS
  /** The template that the last assessment saw. The plan is based on it, so a later edit is a conflict. */
  let planned = newest()?.template
  let pinnedLabel: string | undefined

  function revisions(): RevisionRecord[] {
    return [...watch.children()]
  }

  function pinned(): string {
    if (pinnedLabel === undefined) throw new WorkloadError('invalid', { code: 'not-prepared', workload: owner })
    return pinnedLabel
  }

  function deadlineError(waiting: ReasonOf<Awaited>, cause?: unknown): WorkloadError {
    const because = cause instanceof KubeError ? { because: apiReason(cause) } : {}
    const reason = { code: 'template-not-in-time', workload: owner, deadlineMs, waiting, ...because } as const
    return new WorkloadError('deadline', reason, { deadline: 'template', cause })
  }

  function write(
    basis: ExpectedTemplate,
    images: readonly ContainerImage[],
    { signal, isOwned, fence, onProgress = () => {} }: PrepareOptions,
    deadlineAt: number,
  ): Promise<void> {
    const { observe } = watch
    return writeTemplate({
      options,
      resource,
      planned: basis,
      images,
      uid,
      newest,
      observe,
      signal,
      isOwned,
      fence,
      deadlineAt,
      onProgress,
      deadlineError,
    })
  }

  return {
    kind,
    ref,
    uid,
    selector: podSelectionOf(watch.selector),
    owns: (pod) => pod.owner?.uid === uid,
    desired() {
      const workload = newest()
      return workload === undefined || workload.deleting ? 0 : rules.desired(workload)
    },
    minReadyMs: () => newest()?.minReadyMs ?? 0,
    counted: watch.counted,
    replaces({ name }) {
      // A view that is not current may miss that the workload was scaled up again, and a wrong "no" would leave the drained entries out for
      // good.
      if (!watch.isCurrent()) return true
      const workload = newest()
      return workload !== undefined && !workload.deleting && rules.replaces(workload, name)
    },

    assess(images, pods) {
      const workload = newest()
      if (workload === undefined) return goneAssessment(owner, images)
      planned = workload.template
      const labelled = revisions().flatMap((revision): [string, RevisionRecord][] => {
        const label = rules.podLabel(revision)
        return label === undefined ? [] : [[label, revision]]
      })
      return assessRevisioned({ ref, workload, revisions: new Map(labelled) }, images, pods)
    },

    async prepare(images, preparing) {
      const { signal, onProgress = () => {} } = preparing
      signal.throwIfAborted()
      const deadlineAt = options.clock.now() + deadlineMs
      const basis: ExpectedTemplate = { ref, updateStrategy: ON_DELETE, template: planned }
      const wanted: ExpectedTemplate = { ...basis, template: withImages(planned, images) }
      await write(basis, images, preparing, deadlineAt)
      let waiting: ReasonOf<Awaited> = { code: 'awaits-revision' }
      let told = ''
      pinnedLabel = await changes.until(
        () => {
          const pinning = pinRevision(rules, wanted, newest(), revisions())
          if ('label' in pinning) return pinning.label
          const key = JSON.stringify(pinning.waiting)
          if (key !== told) onProgress(pinning.waiting)
          told = key
          waiting = pinning.waiting
          return undefined
        },
        { clock: options.clock, signal, deadlineAt, refresh: watch.refresh, onDeadline: () => deadlineError(waiting) },
      )
      planned = wanted.template
      onProgress({ code: 'pods-take-revision', revision: pinnedLabel })
      drift.pin(wanted)
    },

    async putBack(former, set, putting) {
      drift.unpin()
      const known = former.filter(({ image }) => image !== '')
      const deadlineAt = options.clock.now() + deadlineMs
      for (;;) {
        const workload = newest()
        if (workload === undefined) return { kind: 'left', reason: { code: 'workload-deleted', workload: owner } }
        const { template, updateStrategy, deleting } = workload
        const differing = imageChanges(template, former)
        // Under another update strategy, the guards of a late patch fail.
        const needsFence = putting.fence !== undefined && updateStrategy === ON_DELETE && !deleting
        if (differing.length === 0 && !needsFence) return { kind: 'done' }
        const edited = differing.find(
          ({ container, from }) => !set.some((one) => one.container === container && one.image === from),
        )
        if (edited) {
          const { container, from: image } = edited
          return { kind: 'left', reason: { code: 'template-edited', workload: owner, container, image } }
        }
        const unknown = former.find(({ image }) => image === '')
        if (unknown && differing.length > 0)
          return {
            kind: 'left',
            reason: { code: 'no-former-image', workload: owner, container: unknown.container },
          }
        try {
          await write({ ref, updateStrategy: ON_DELETE, template }, known, putting, deadlineAt)
          return { kind: 'done' }
        } catch (error) {
          if (!(error instanceof WorkloadError) || error.kind !== 'conflict') throw error
          const now = newest()
          // If the late patch has arrived before the fence, the template differs now, and is put back in the next round.
          const isAnother = now !== undefined && !now.deleting && differences(template, now.template, '').length > 0
          if (!isAnother) return { kind: 'left', reason: { code: 'template-left', workload: owner, because: error.reason } }
        }
      }
    },

    podOperations: (pod) => revisionLabelPatch(pod, pinned()),
    hasRevision: (pod) => pod.revision === pinned(),
    onDrift: drift.onDrift,
    isCurrent: watch.isCurrent,
    isBroken: watch.isBroken,
    onChange: (listener) => watch.changes.listen(listener),
    refresh: watch.refresh,
    stop: watch.stop,
  }
}
