import { byNode } from '../../pods/heir.ts'
import type { KindName } from '../../pods/workload-id.ts'
import type { RevisionRecord } from '../records.ts'
import type { Kind } from './kind.ts'
import { revisionedRights } from './revisioned-rights.ts'

export const DAEMON_SET: KindName = { group: 'apps', version: 'v1', kind: 'DaemonSet', plural: 'daemonsets' }

/**
 * The status of a DaemonSet names no revision; the revision with the highest number is the current one. A return to an old template raises
 * the number of its revision. The pods carry the label value of the revision, not its name.
 */
export const daemonSet: Kind = {
  ...DAEMON_SET,
  shortNames: ['ds'],
  mechanism: {
    type: 'revisioned',
    revisions: {
      desired: ({ replicas }) => replicas,
      replaces: () => true,
      podLabel: ({ hash }) => hash,
      updateRevision(_workload, revisions) {
        const newest = revisions.reduce<RevisionRecord | undefined>(
          (best, one) => (best && best.revision > one.revision ? best : one),
          undefined,
        )
        // The watch of the revisions may lag behind the watch of the DaemonSet, so a newer revision may exist.
        return newest && { revision: newest, certain: false }
      },
    },
  },
  isHeir: byNode,
  first: 'lowest',
  rights: revisionedRights(DAEMON_SET),
}
