import type { Clock } from '../../ports/clock.ts'
import type { Random } from '../../ports/random.ts'
import type { EndpointsKind } from '../cluster/cluster-view.ts'

const LONGEST_BACKOFF_MS = 600_000
/** After so many touches an endpoint counts as one that cannot be made right. */
const STUCK_AFTER = 4
/** An endpoint that stays right for this long, and for longer than its back-off, begins anew. */
const FORGOTTEN_AFTER_MS = 60_000

/** The history of one endpoint that is, or was, wrong. */
interface EntryTrouble {
  readonly kind: EndpointsKind
  attempts: number
  /** No touch for its sake before this instant. */
  notBefore: number
  backoffMs: number
  rightAt: number | undefined
  isTold: boolean
}

/** An object with wrong endpoints. */
export interface Trouble {
  readonly kind: EndpointsKind
  readonly name: string
  readonly sinceAt: number
  /** The touches since then. */
  attempts: number
  /** The failed writes in a row. */
  failures: number
  entries: readonly EntryTrouble[]
}

/**
 * The history of what was wrong in the objects of one Service. Attempts belong to endpoints, and not to objects: an endpoint in an object that
 * its controller has made anew is touched less and less often, and an endpoint that is new in an object does not wait for the others.
 */
export interface Troubles {
  /** Begins a look at all objects. */
  begin(): void
  /** Notes the wrong endpoints of an object. Returns the trouble that is over, where the object was wrong before and is right. */
  note(object: { kind: EndpointsKind; name: string }, wrong: readonly string[]): { trouble?: Trouble; righted?: Trouble }
  /** Ends a look at all objects. Returns the instant at which an endpoint is forgotten, if any. */
  end(): number | undefined
  /** The object was touched, or the write has failed. Returns true where that is to be told: several touches had no effect. */
  count(trouble: Trouble): boolean
  /** The object may have changed since the look. It is looked at anew, and the touch does not count. */
  putOff(trouble: Trouble): void
  objects(): readonly Trouble[]
}

/** The instant at which the object may be touched. */
export function dueAt({ entries }: Trouble): number {
  return Math.min(...entries.map(({ notBefore }) => notBefore))
}

/** The number of the next touch, of the endpoint with the most. */
export function nextAttempt({ entries }: Trouble): number {
  return Math.max(0, ...entries.map(({ attempts }) => attempts)) + 1
}

export function isStuck({ entries }: Trouble): boolean {
  return entries.some(({ attempts }) => attempts >= STUCK_AFTER)
}

export function createTroubles({ clock, random, graceMs }: { clock: Clock; random: Random; graceMs: number }): Troubles {
  const entries = new Map<string, EntryTrouble>()
  const objects = new Map<string, Trouble>()
  /** Of the look under way. */
  const seen = new Set<string>()
  const wrongNow = new Set<EntryTrouble>()

  function entryFor(kind: EndpointsKind, key: string): EntryTrouble {
    const id = `${kind} ${key}`
    const now = clock.now()
    let entry = entries.get(id)
    if (entry === undefined) {
      entry = { kind, attempts: 0, notBefore: now + graceMs, backoffMs: 0, rightAt: undefined, isTold: false }
      entries.set(id, entry)
    } else if (entry.rightAt !== undefined) {
      // An endpoint that becomes wrong again soon is touched less and less often.
      entry.rightAt = undefined
      entry.notBefore = Math.max(entry.notBefore, now + graceMs)
    }
    wrongNow.add(entry)
    return entry
  }

  return {
    begin() {
      seen.clear()
      wrongNow.clear()
    },
    note({ kind, name }, wrong) {
      const id = `${kind}/${name}`
      seen.add(id)
      const known = objects.get(id)
      if (wrong.length === 0) {
        objects.delete(id)
        return known === undefined ? {} : { righted: known }
      }
      const trouble = known ?? { kind, name, sinceAt: clock.now(), attempts: 0, failures: 0, entries: [] }
      trouble.entries = wrong.map((key) => entryFor(kind, key))
      objects.set(id, trouble)
      return { trouble }
    },
    end() {
      const now = clock.now()
      let nextAt: number | undefined
      for (const id of objects.keys()) if (!seen.has(id)) objects.delete(id)
      for (const [id, entry] of entries) {
        if (wrongNow.has(entry)) continue
        entry.rightAt ??= now
        const endsAt = entry.rightAt + Math.max(FORGOTTEN_AFTER_MS, entry.backoffMs)
        if (entry.attempts === 0 || endsAt <= now) entries.delete(id)
        else nextAt = Math.min(nextAt ?? endsAt, endsAt)
      }
      return nextAt
    },
    count(trouble) {
      const now = clock.now()
      const part = 0.75 + random.next() / 2
      trouble.attempts += 1
      for (const entry of trouble.entries) {
        entry.attempts += 1
        entry.backoffMs = Math.min(LONGEST_BACKOFF_MS, graceMs * 2 ** entry.attempts) * part
        entry.notBefore = now + entry.backoffMs
      }
      const stuck = trouble.entries.filter(({ attempts }) => attempts >= STUCK_AFTER)
      if (stuck.length === 0) return false
      const isKnown = [...entries.values()].some(({ kind, isTold }) => kind === trouble.kind && isTold)
      for (const entry of stuck) entry.isTold = true
      return !isKnown
    },
    putOff({ entries: some }) {
      for (const entry of some) entry.notBefore = Math.max(entry.notBefore, clock.now() + graceMs)
    },
    objects: () => [...objects.values()],
  }
}
