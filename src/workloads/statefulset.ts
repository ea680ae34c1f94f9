import { STATEFUL_SETS } from './resources.ts'
import type { RevisionedKind } from './revisioned-kind.ts'

/** Its status names the update revision, and its pods carry the revision's name as their label. */
export const statefulSet: RevisionedKind = {
  kind: 'StatefulSet',
  resource: STATEFUL_SETS,
  desired: ({ wantedReplicas }) => wantedReplicas,
  replaces({ firstOrdinal, wantedReplicas }, podName) {
    const ordinal = Number(/-(\d+)$/.exec(podName)?.[1])
    return ordinal >= firstOrdinal && ordinal < firstOrdinal + wantedReplicas
  },
  podLabel: ({ name }) => name,
  updateRevision({ updateRevision }, revisions) {
    const revision = revisions.find(({ name }) => name === updateRevision)
    return revision && { revision, certain: true }
  },
}
