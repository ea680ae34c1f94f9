import { byName } from '../../pods/heir.ts'
import type { KindName } from '../../pods/workload-id.ts'
import type { Kind } from './kind.ts'
import { revisionedRights } from './revisioned-rights.ts'

export const STATEFUL_SET: KindName = { group: 'apps', version: 'v1', kind: 'StatefulSet', plural: 'statefulsets' }

/** The status of a StatefulSet names the update revision. The label of its pods is the name of the revision. */
export const statefulSet: Kind = {
  ...STATEFUL_SET,
  shortNames: ['sts'],
  mechanism: {
    type: 'revisioned',
    revisions: {
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
    },
  },
  isHeir: byName,
  // The StatefulSet controller starts with the highest ordinal as well.
  first: 'highest',
  rights: revisionedRights(STATEFUL_SET),
}
