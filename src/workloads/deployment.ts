import type { WorkloadRef } from '../plan/plan.ts'
import { assessDeployment } from './assess-deployment.ts'
import { createDriftWatch } from './drift-watch.ts'
import { expectTemplate } from './expected-template.ts'
import { goneAssessment } from './gone.ts'
import { podSelectionOf } from './label-selector.ts'
import type { OpenOptions } from './open-options.ts'
import { type ReplicaSetRecord, replicaSetRecord } from './records.ts'
import { DEPLOYMENTS, REPLICA_SETS, displayName } from './resources.ts'
import { watchWorkload } from './watch.ts'
import type { Workload } from './workload.ts'

/** A Deployment: its pods alone are patched; they belong to its ReplicaSets. */
export async function openDeployment(ref: WorkloadRef, options: OpenOptions): Promise<Workload> {
  const watch = await watchWorkload<ReplicaSetRecord>(
    ref,
    { resource: DEPLOYMENTS, childResource: REPLICA_SETS, decodeChild: replicaSetRecord, ownerOf: ({ owner }) => owner?.uid },
    options,
  )
  const { uid, newest } = watch
  const drift = createDriftWatch(newest)
  watch.changes.listen(drift.check)
  /** What the last assessment saw. */
  let planned = newest()?.template

  function replicaSets(): ReplicaSetRecord[] {
    return [...watch.children()]
  }

  return {
    ref,
    uid,
    selector: podSelectionOf(watch.selector),
    owns: (pod) => pod.owner !== undefined && replicaSets().some((one) => one.uid === pod.owner!.uid),
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
      return assessDeployment({ ref, workload, replicaSets: replicaSets(), acceptTemplateDrift }, images, pods)
    },

    async prepare(_images, { signal }) {
      signal.throwIfAborted()
      const expected = { ref, updateStrategy: undefined, template: planned }
      expectTemplate(expected, newest())
      drift.pin(expected)
    },

    // Its template is never written.
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
