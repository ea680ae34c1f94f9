import { z } from 'zod'
import { withoutNulls } from '../../endpoints/parse-objects.ts'

const LeaseObject = z.looseObject({
  spec: z.looseObject({ renewTime: z.string().optional(), leaseDurationSeconds: z.number().optional() }).optional(),
})

export interface NodeLease {
  renewedAt?: string
  durationMs: number
}

/** The default Lease duration of a kubelet. */
const NODE_LEASE_SECONDS = 40

export function parseNodeLease(raw: unknown): NodeLease {
  const { renewTime, leaseDurationSeconds = NODE_LEASE_SECONDS } = LeaseObject.parse(withoutNulls(raw)).spec ?? {}
  return { ...(renewTime === undefined ? {} : { renewedAt: renewTime }), durationMs: leaseDurationSeconds * 1000 }
}
