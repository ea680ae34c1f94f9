import { digest } from '../../journal/digest.ts'
import { DOCUMENT_LEASES } from '../leases/lease-name.ts'
import { LARGEST_EPOCH, leaseBody, leasePath, type LeaseRecord, leaseRecord } from '../../leases/lease.ts'
import type { DocumentLock } from '../request.ts'

/** The name of the document in the Lease, for people. The name of the Lease has only its digest. */
const DOCUMENT_ANNOTATION = 'sluice.dev/document'

/** The name of the Lease. Each sluice with the same name of the document uses the same Lease. */
export function documentLease({ document }: Pick<DocumentLock, 'document'>): string {
  return `${DOCUMENT_LEASES}${digest(document)}`
}

export interface LeaseWrite {
  /** The holder. Empty gives the Lease back. */
  holder: string
  /** The Lease to replace. Absent where there is none. */
  found: LeaseRecord | undefined
  /** Milliseconds since 1970. */
  renewedAt: number
  deadlineMs: number
}

/** Writes the Lease. Rejects with a KubeError, of kind `conflict` where the Lease was written since it was read. */
export async function writeLease(lock: DocumentLock, { holder, found, renewedAt, deadlineMs }: LeaseWrite): Promise<LeaseRecord> {
  const { client, namespace, document } = lock
  const name = documentLease(lock)
  const transitions = found?.transitions ?? 0
  const isGivenBack = holder === ''
  const body = leaseBody({
    namespace,
    name,
    holder,
    isGivenBack,
    transitions: isGivenBack ? transitions : transitions < LARGEST_EPOCH ? transitions + 1 : 1,
    renewedAt,
    found,
    annotations: { ...found?.annotations, [DOCUMENT_ANNOTATION]: document },
  })
  const raw = found
    ? await client.replace(leasePath(namespace, name), body, { deadlineMs, once: true })
    : await client.create(leasePath(namespace), body, { deadlineMs, once: true })
  return leaseRecord(raw)
}
