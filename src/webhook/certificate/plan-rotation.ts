import { BACKDATED_MS } from './issue.ts'
import { factsOf, isIssuedBy, missingNames, type StoredCertificates } from './stored-certificates.ts'

export interface RotationSettings {
  /** For so long the old authority and the new one are both trusted, before and after the server takes a certificate of the new one. */
  readonly overlapMs: number
  readonly authorityValidMs: number
  readonly serverValidMs: number
  /** The DNS names and IP addresses of the server. */
  readonly names: readonly string[]
}

/**
 * - `add-authority`: a second authority is trusted; the server keeps its certificate.
 * - `issue-server`: the newest authority is trusted by all, and makes the certificate of the server.
 * - `drop-authorities`: no server has a certificate of the older authorities any more.
 */
export type RotationStep = 'add-authority' | 'issue-server' | 'drop-authorities'

/** A certificate is replaced once this part of its validity is left. */
const RENEWED_AT = 1 / 3

/**
 * The next step of the rotation, from the certificates alone, so that any replica goes on where another one has stopped. `isTrusted` is
 * whether the webhook configuration has the newest authority.
 */
export function planRotation(
  { authorities, server }: StoredCertificates,
  { overlapMs, authorityValidMs, serverValidMs, names }: RotationSettings,
  nowAt: number,
  isTrusted: boolean,
): RotationStep | undefined {
  const [newest, ...older] = authorities as [string, ...string[]]
  const [authority, served] = [factsOf(newest), factsOf(server.cert)]
  const isByNewest = isIssuedBy(server.cert, newest)
  const isOver = (endsAt: number, validMs: number): boolean => endsAt - nowAt < validMs * RENEWED_AT
  const age = (beginsAt: number): number => nowAt - (beginsAt + BACKDATED_MS)

  if (isOver(authority.endsAt, authorityValidMs)) return 'add-authority'
  const mustServe = !isByNewest || isOver(served.endsAt, serverValidMs) || missingNames(server.cert, names).length > 0
  // A certificate that is over is of no use, whatever is trusted.
  const mayServe = isByNewest || (isTrusted && age(authority.beginsAt) >= overlapMs) || served.endsAt <= nowAt
  if (mustServe) return mayServe ? 'issue-server' : undefined
  return older.length > 0 && age(served.beginsAt) >= overlapMs ? 'drop-authorities' : undefined
}
