import type { PatchOperation } from '../kube/client.ts'
import type { PodView } from '../pods/glossary.ts'
import { REVISION_LABEL } from '../pods/view.ts'

const LABELS = '/metadata/labels'
const LABEL = `${LABELS}/${REVISION_LABEL}`

/** Operations that set the revision label of a pod, guarded by the current label. */
export function revisionLabelPatch(pod: Pick<PodView, 'revision' | 'hasLabels'>, label: string): PatchOperation[] {
  if (pod.revision === label) return []
  if (!pod.hasLabels) {
    return [
      { op: 'test', path: LABELS, value: null },
      { op: 'add', path: LABELS, value: { [REVISION_LABEL]: label } },
    ]
  }
  return [
    { op: 'test', path: LABEL, value: pod.revision ?? null },
    { op: pod.revision === undefined ? 'add' : 'replace', path: LABEL, value: label },
  ]
}
