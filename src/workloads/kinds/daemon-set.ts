import { byNode } from '../../pods/heir.ts'
import type { KindName } from '../../pods/workload-id.ts'
import type { RevisionRecord } from '../records.ts'
import type { Kind } from './kind.ts'
import { revisionedRights } from './revisioned-rights.ts'

export const DAEMON_SET: KindName = { group: 'apps', version: 'v1', kind: 'DaemonSet', plural: 'daemonsets' }

/**
 * Its status names no revision: the newest one is it. Going back to an old template raises the number of its revision.
 * Its pods carry the label value of the revision, not its name.
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
        // The watch on revisions may be behind the one on the DaemonSet, and a newer one still to come.
        return newest && { revision: newest, certain: false }
      },
    },
  },
  isHeir: byNode,
  first: 'lowest',
  rights: revisionedRights(DAEMON_SET),
}
