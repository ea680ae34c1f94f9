import { digest } from '../../journal/digest.ts'
import { DOCUMENT_LEASES, LARGEST_EPOCH, leaseBody, leasePath, type LeaseRecord, leaseRecord } from '../leases/lease.ts'
import type { DocumentLock } from '../request.ts'

/** For people: a digest alone says nothing. */
const DOCUMENT_ANNOTATION = 'sluice.dev/document'

/** The same for each sluice that names the document alike. */
export function documentLease({ document }: Pick<DocumentLock, 'document'>): string {
  return `${DOCUMENT_LEASES}${digest(document)}`
}

export interface LeaseWrite {
  /** Empty: it is given back. */
  holder: string
  /** The Lease that is replaced; absent where there is none. */
  found: LeaseRecord | undefined
  /** Milliseconds since 1970. */
  renewedAt: number
  deadlineMs: number
}

/** Rejects with a KubeError: of kind `conflict` where somebody has written the Lease since it was read. */
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
