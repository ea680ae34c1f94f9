import type { Requests } from './requests.ts'

/**
 * - `ready`: in rotation, unless its weight is 0
 * - `drain`: no new requests; what is under way may end
 * - `maint`: an operator has it out
 */
export type Admin = 'ready' | 'drain' | 'maint'

/** A server as it is configured: what a reload comes back to. */
export interface ServerOptions {
  name: string
  address: string
  port: number
  admin?: Admin
  weight?: number
}

/** What an operator, an effect or a reload changes. */
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
   * Grows with each change, and with each write that is taken, also one that changes nothing: else a late drain, which
   * rests on the same version as the restore that overtook it, would be taken after that. Never used twice.
   */
  version: number
  /** The highest fence that a write had. */
  fence: number
  requests: Requests
  /** Former settings, as far back as a stale answer reaches; the last is the present one. */
  past: { from: number; setting: Setting }[]
}

/** One entry as those see it who judge. Never changed in place. */
export interface TargetState {
  address: string
  /** New requests reach it. */
  routable: boolean
  weight: number
  inFlight: number
  /** When the last request ends, or ended, on the balancer's clock; null while new ones arrive. */
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

/** As it was at that moment, as far back as it is kept. */
export function settingAt({ past }: Entry, at: number): Setting {
  return (past.findLast(({ from }) => from <= at) ?? past[0]!).setting
}
