import type { Requests } from './requests.ts'

/**
 * The administrative state of an entry:
 * - `ready`: in rotation, unless its weight is 0
 * - `drain`: takes no new requests, and finishes the requests under way
 * - `maint`: taken out by an operator
 */
export type Admin = 'ready' | 'drain' | 'maint'

/** A server as it is configured. A reload returns to this configuration. */
export interface ServerOptions {
  name: string
  address: string
  port: number
  admin?: Admin
  weight?: number
}

/** The settings that an operator, a write or a reload changes. */
export interface Setting {
  address: string
  port: number
  admin: Admin
  weight: number
}

/** One entry of the balancer. */
export interface Entry extends Setting {
  name: string
  configured: ServerOptions
  /**
   * Grows with each change and each accepted write, and is never used twice. A write without a change counts too: otherwise a late drain
   * would be accepted after the restore that overtook it, since both rest on one version.
   */
  version: number
  /** The highest fence of all writes. */
  fence: number
  requests: Requests
  /** The former settings, as far back as a stale answer reaches. The last is the present setting. */
  past: { from: number; setting: Setting }[]
}

/** One entry as the checkers see it. It is never changed in place. */
export interface TargetState {
  address: string
  /** True where new requests reach the target. */
  routable: boolean
  weight: number
  inFlight: number
  /** The time when the last request ends or ended, on the balancer's clock. Null while new requests arrive. */
  emptyAt: number | null
  admin: Admin
}

export function configuredSetting({ address, port, admin = 'ready', weight = 1 }: ServerOptions): Setting {
  return { address, port, admin, weight }
}

export function isRoutable({ admin, weight }: Pick<Setting, 'admin' | 'weight'>): boolean {
  return admin === 'ready' && weight > 0
}

export function stateOf(entry: Entry, at: number): TargetState {
  const { address, weight, admin, requests } = entry
  return {
    address,
    routable: isRoutable(entry),
    weight,
    inFlight: requests.inFlight(at),
    emptyAt: requests.emptyAt(),
    admin,
  }
}

export function isSame(a: Setting, b: Setting): boolean {
  return a.address === b.address && a.port === b.port && a.admin === b.admin && a.weight === b.weight
}

/** Gives the entry another setting. */
export function change(entry: Entry, setting: Setting, at: number, version: number, staleMs: number): void {
  Object.assign(entry, setting)
  entry.version = version
  entry.requests.turn(isRoutable(entry), at)
  entry.past.push({ from: at, setting })
  while (entry.past.length > 1 && entry.past[1]!.from <= at - staleMs) entry.past.shift()
}

/** Returns the setting at a moment, or the oldest that is kept. */
export function settingAt({ past }: Entry, at: number): Setting {
  return (past.findLast(({ from }) => from <= at) ?? past[0]!).setting
}
