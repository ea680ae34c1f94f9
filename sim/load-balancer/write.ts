import type { Admin, Entry, Setting } from './entry.ts'
import { configuredSetting } from './entry.ts'

/**
 * What the balancer offers against late, lost and repeated calls:
 * - `G0`: nothing; it sets what it is told, and cannot be read
 * - `G1`: absolute states, and reading back
 * - `G2`: the same, and a memory of operation ids: one that it knows is answered as the first time, and changes nothing
 * - `G3`: the same as G1, and each write names the version that it rests on and its owner's fence: an older one is refused
 */
export type Level = 'G0' | 'G1' | 'G2' | 'G3'

/** A drain or restore of some entries, as it arrives. */
export interface Write {
  /** The process that sent it, for the history. */
  by: string
  kind: 'drain' | 'restore'
  fence: number
  /** When its bytes left, on the balancer's clock: for the history. */
  leftAt: number
  entries: WriteEntry[]
}

export interface WriteEntry {
  name: string
  /** Which pod the sender means: the entry may have another address by now. */
  address: string
  port: number
  operation: string
  /** What a restore puts back; without it, what is configured. */
  prior?: { admin: Admin; weight: number }
  /** G3: the version that was read before. */
  version?: number
}

export type Refusal = 'absent' | 'maintenance' | 'fence' | 'version' | 'busy' | 'forbidden'

export type WriteResult =
  | { outcome: 'applied' }
  | { outcome: 'pending'; job: string }
  | { outcome: 'refused'; why: Refusal; message: string }

/** What the entry becomes, or why the write is refused. */
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
  // A hook that only says "drain" or "ready" ends an operator's maintenance; what can be read can also be compared.
  if (level !== 'G0' && entry.admin === 'maint' && to.admin !== 'maint')
    return { why: 'maintenance', message: `${name} is in maintenance, which a ${kind} would end` }
  return { setting: { address, port, admin: to.admin, weight: to.weight } }
}
