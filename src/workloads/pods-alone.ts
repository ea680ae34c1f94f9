import { displayName } from '../pods/workload-id.ts'
import type { WorkloadRef } from '../plan/plan.ts'
import { assessPodsAlone } from './assess-pods-alone.ts'
import { createDriftWatch } from './drift-watch.ts'
import { expectTemplate } from './expected-template.ts'
import { goneAssessment } from './gone.ts'
import { podSelectionOf } from './label-selector.ts'
import type { OpenOptions } from './open-options.ts'
import type { Kind, Through } from './kinds/kind.ts'
import { type MadeRecord, madeRecord } from './records.ts'
import { resourceOf } from './resources.ts'
import { watchWorkload } from './watch.ts'
import type { Workload } from './workload.ts'

interface PodsAlone {
  kind: Kind
  through: Through
}

/** The mechanism `pods-alone`, for pods that belong to intermediate objects, such as the ReplicaSets of a Deployment. */
export async function openPodsAlone(ref: WorkloadRef, { kind, through }: PodsAlone, options: OpenOptions): Promise<Workload> {
  const watch = await watchWorkload<MadeRecord>(
    ref,
    {
      resource: resourceOf(kind),
      childResource: resourceOf(through),
      decodeChild: madeRecord,
      ownerOf: ({ owner }) => owner?.uid,
    },
    options,
  )
  const { uid, newest } = watch
  const drift = createDriftWatch(newest)
  watch.changes.listen(drift.check)
  /** The template that the last assessment saw. */
  let planned = newest()?.template

  function made(): MadeRecord[] {
    return [...watch.children()]
  }

  return {
    kind,
    ref,
    uid,
    selector: podSelectionOf(watch.selector),
    owns: (pod) => pod.owner !== undefined && made().some((one) => one.uid === pod.owner!.uid),
    desired() {
      const workload = newest()
      return workload === undefined || workload.deleting ? 0 : workload.wantedReplicas
    },
    minReadyMs: () => newest()?.minReadyMs ?? 0,
    counted: watch.counted,
    replaces: () => true,

    assess(images, pods) {
      const workload = newest()
      if (workload === undefined) return goneAssessment(displayName(ref), images)
      planned = workload.template
      const acceptTemplateDrift = options.acceptTemplateDrift ?? false
      return assessPodsAlone({ kind, through, ref, workload, made: made(), acceptTemplateDrift }, images, pods)
    },

    async prepare(_images, { signal }) {
      signal.throwIfAborted()
      const expected = { ref, updateStrategy: undefined, template: planned }
      expectTemplate(expected, newest())
      drift.pin(expected)
    },

    // The template is never written, so there is nothing to put back.
    putBack: async () => ({ kind: 'done' }),
    podOperations: () => [],
    hasRevision: () => true,
    onDrift: drift.onDrift,
    isCurrent: watch.isCurrent,
    isBroken: watch.isBroken,
    onChange: (listener) => watch.changes.listen(listener),
    refresh: watch.refresh,
    stop: watch.stop,
  }
}
