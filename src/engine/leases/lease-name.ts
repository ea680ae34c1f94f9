import { digest } from '../../journal/digest.ts'
import { isNamedWithoutGroup, type WorkloadKey } from '../../pods/workload-id.ts'

/*
 * The Lease of a workload. Its owner may change the pods of the workload and their targets. The Lease has the name of the workload, and is
 * never deleted.
 */

const LONGEST_NAME = 253
/** The prefix of the Leases of load balancer documents. Such a Lease is held for one call, and belongs to no run. */
export const DOCUMENT_LEASES = 'sluice-document-'

/**
 * The name of a workload's Lease: `sluice-KIND-NAME`, or `sluice-KIND.GROUP-NAME` for kinds that are named with their group. A name that is
 * too long is cut, and gets a digest. Two workloads never share a Lease: a run of both would wait for itself.
 */
export function leaseName({ group, kind, name }: WorkloadKey): string {
  // A hyphen of the group is doubled, which tells it from the hyphen before the name. A name does not begin with a hyphen.
  const type = isNamedWithoutGroup(group) ? kind : `${kind}.${group.replaceAll('-', '--')}`
  const whole = `sluice-${type.toLowerCase()}-${name}`
  if (whole.length <= LONGEST_NAME) return whole
  const end = `-${digest(whole)}`
  return whole.slice(0, LONGEST_NAME - end.length).replace(/[^a-z0-9]+$/, '') + end
}
