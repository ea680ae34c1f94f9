import type { Admin, Entry, Setting } from './entry.ts'
import { configuredSetting } from './entry.ts'

/**
 * The guarantees of a balancer against late, lost and repeated calls:
 * - `G0`: none; it sets any value, and cannot be read
 * - `G1`: absolute states, which can be read
 * - `G2`: G1, and a memory of operation IDs: a known operation gets its first answer, and changes nothing
 * - `G3`: G1, and each write names the version that it rests on and the fence of its owner: an older version or fence is refused
 */
export type Level = 'G0' | 'G1' | 'G2' | 'G3'

/** A drain or restore of some entries, as it arrives. */
export interface Write {
  /** The process that sent the write, for the history. */
  by: string
  kind: 'drain' | 'restore'
  fence: number
  /** The time when the bytes of the write left, on the balancer's clock, for the history. */
  leftAt: number
  entries: WriteEntry[]
}

export interface WriteEntry {
  name: string
  /** The address of the pod that the sender means. The entry may have another address by now. */
  address: string
  port: number
  operation: string
  /** The state that a restore puts back. Without it, a restore puts back the configured state. */
  prior?: { admin: Admin; weight: number }
  /** For G3, the version that the sender has read. */
  version?: number
}

export type Refusal = 'absent' | 'maintenance' | 'fence' | 'version' | 'busy' | 'forbidden'

export type WriteResult =
  | { outcome: 'applied' }
  | { outcome: 'pending'; job: string }
  | { outcome: 'refused'; why: Refusal; message: string }

/** Returns the new setting of the entry, or the reason why the write is refused. */
export function judge(
  level: Level,
  { kind, fence }: Write,
  entry: Entry | undefined,
  wanted: WriteEntry,
): { setting: Setting } | { why: Refusal; message: string } {
  const { name, address, port, prior, version } = wanted
  if (entry === undefined) return { why: 'absent', message: `there is no server ${name}` }
  if (entry.address !== address || entry.port !== port)
    return { why: 'absent', message: `${name} has the address ${entry.address}:${entry.port} now, not ${address}:${port}` }
  if (level === 'G3' && fence < entry.fence)
    return { why: 'fence', message: `${name} has seen fence ${entry.fence}, this call has ${fence}` }
  if (level === 'G3' && version !== entry.version)
    return { why: 'version', message: `${name} is of version ${entry.version} by now, not ${version}` }
  const { weight } = entry
  const to = kind === 'drain' ? { admin: 'drain' as const, weight } : (prior ?? configuredSetting(entry.configured))
  // A G0 hook that only says "drain" or "ready" ends an operator's maintenance. A balancer that can be read can also compare.
  if (level !== 'G0' && entry.admin === 'maint' && to.admin !== 'maint')
    return { why: 'maintenance', message: `${name} is in maintenance, which a ${kind} would end` }
  return { setting: { address, port, admin: to.admin, weight: to.weight } }
}
