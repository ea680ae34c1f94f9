/** The Leases of the workloads, as they were written: who may act when. */
import type { Scenario } from './history.ts'
import type { Process, Span } from './processes.ts'
import { asleepSince, isProcess, remainderMs } from './processes.ts'

export interface LeaseRecord {
  at: number
  entry: number
  by: string
  holder: string
  transitions: number
  /** Runs that are to be paused or aborted. */
  ordered: string[]
  /** Somebody has deleted it after this. */
  isDeleted?: true
  /** … or has cleared its holder. */
  isCleared?: true
}

interface Owned {
  /** By namespace and name. */
  leases: Map<string, LeaseRecord[]>
  /** By name. */
  processes: Map<string, Process>
}

interface Renewed extends Pick<Owned, 'leases'> {
  scenario: Required<Pick<Scenario, 'callLifeMs'>>
}

/** Who sleeps longer cannot have kept one. */
export const LEASE_MS = 15_000
/** Until a renewal is given up that nobody has answered. */
const LEASE_ANSWER_MS = 4_000

interface RawLease {
  metadata: { name: string; namespace?: string; annotations?: Record<string, string> }
  spec?: { holderIdentity?: string | null; leaseTransitions?: number | null }
}

interface RawOrder {
  runs?: string[]
}

export function readLease(
  object: unknown,
): (Pick<LeaseRecord, 'holder' | 'transitions' | 'ordered'> & { key: string }) | undefined {
  const { metadata, spec } = (object ?? {}) as Partial<RawLease>
  if (metadata === undefined) return undefined
  const key = `${metadata.namespace ?? ''}/${metadata.name}`
  const order = JSON.parse(metadata.annotations?.['sluice.dev/order'] ?? '{}') as RawOrder & { others?: RawOrder[] }
  const ordered = [order, ...(order.others ?? [])].flatMap(({ runs = [] }) => runs)
  return { key, holder: spec?.holderIdentity ?? '', transitions: spec?.leaseTransitions ?? 0, ordered }
}

/** Who held that Lease at that moment, or else any. */
export function holdersAt({ leases, processes }: Owned, at: number, lease?: string): string[] {
  const asked = lease === undefined ? leases.values() : [leases.get(lease) ?? []]
  return [...asked].flatMap((records) => holdersIn(records, processes, at))
}

/**
 * Who had one that somebody has deleted, or whose holder he has cleared, may act until it has run out, since it cannot know before its
 * next renewal; and whoever has taken it meanwhile may not (harsh seed 9109739), but where it was deleted with nothing on record of that
 * owner yet (harsh seed 9299600).
 */
function holdersIn(records: readonly LeaseRecord[], processes: Owned['processes'], at: number): string[] {
  const written = records.filter((record) => record.at <= at)
  const last = written.at(-1)
  if (last === undefined) return []
  const place = written.slice(0, -1).findLastIndex(({ isDeleted, isCleared }) => isDeleted ?? isCleared)
  const [lost, next] = place === -1 ? [] : written.slice(place)
  const owner = [...processes.values()].find(({ name }) => lost !== undefined && isProcess(lost.holder, name))
  if (lost === undefined || owner === undefined) return [last.holder]
  // An order on it is no renewal (harsh seed 9301609). It may have ended since (harsh seeds 9202463, 9202756).
  const { at: renewedAt } = written.slice(0, place + 1).findLast(({ by }) => by === owner.name) ?? lost
  const hasEnded = !owner.isRunning && (asleepSince(owner) ?? at) < at
  if (hasEnded || at - renewedAt > LEASE_MS) return [last.holder]
  const isKnown = lost.isCleared || (owner.begunAt !== undefined && owner.begunAt < next!.at)
  return isKnown ? [lost.holder] : [lost.holder, last.holder]
}

/** Milliseconds in which it could see what happened, and do something about it. */
export function ableMs(world: Renewed, process: Process, since: number, at: number): number {
  const spans = [...process.sleeps, ...unsure(world, process, at)]
  return remainderMs(spans, Math.max(since, process.startedAt), at)
}

/**
 * It could not renew its Lease for so long that this would not have outlived a call, by all that it had been answered: then it may
 * call nobody (harsh seed 6212276).
 */
function unsure({ leases, scenario }: Renewed, { name }: Process, at: number): Span[] {
  return [...leases.values()].flatMap((records) => {
    const renewed = records.filter((record) => record.by === name && record.at <= at).map((record) => record.at)
    return renewed.slice(1).flatMap((next, index) => {
      const from = renewed[index]! + LEASE_MS - scenario.callLifeMs
      return next > from ? [{ from, to: next + LEASE_ANSWER_MS }] : []
    })
  })
}
