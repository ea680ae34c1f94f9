import type { RevisionRecord } from './records.ts'
import { DAEMON_SETS } from './resources.ts'
import type { RevisionedKind } from './revisioned-kind.ts'

/**
 * Its status names no revision: the newest one is it. Going back to an old template raises the number of its revision.
 * Its pods carry the label value of the revision, not its name.
 */
export const daemonSet: RevisionedKind = {
  kind: 'DaemonSet',
  resource: DAEMON_SETS,
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
}
