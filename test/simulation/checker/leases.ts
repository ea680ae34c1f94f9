/** The Leases of the workloads, as they were written. They decide which process may act. */
import type { Scenario } from './history.ts'
import type { Process, Span } from './processes.ts'
import { asleepSince, isProcess, remainderMs } from './processes.ts'

export interface LeaseRecord {
  at: number
  entry: number
  by: string
  holder: string
  transitions: number
  /** The runs that are ordered to be paused or aborted. */
  ordered: string[]
  /** True where the Lease was deleted by hand after this record. */
  isDeleted?: true
  /** True where the holder was cleared by hand after this record. */
  isCleared?: true
}

interface Owned {
  /** The records of each Lease, by namespace and name. */
  leases: Map<string, LeaseRecord[]>
  /** The processes, by name. */
  processes: Map<string, Process>
}

interface Renewed extends Pick<Owned, 'leases'> {
  scenario: Required<Pick<Scenario, 'callLifeMs'>>
}

/** The duration of a Lease. A process that sleeps longer has lost it. */
export const LEASE_MS = 15_000
/** The time after which a renewal without an answer is given up. */
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

/** Returns the holders of a Lease at a moment, or of any Lease where none is named. */
export function holdersAt({ leases, processes }: Owned, at: number, lease?: string): string[] {
  const asked = lease === undefined ? leases.values() : [leases.get(lease) ?? []]
  return [...asked].flatMap((records) => holdersIn(records, processes, at))
}

/**
 * The former owner of a Lease that was deleted or cleared by hand may act until the Lease has run out: it learns of the loss at its next
 * renewal. Until then a new holder may not act, except where the Lease was deleted before that owner had begun.
 */
function holdersIn(records: readonly LeaseRecord[], processes: Owned['processes'], at: number): string[] {
  const written = records.filter((record) => record.at <= at)
  const last = written.at(-1)
  if (last === undefined) return []
  const place = written.slice(0, -1).findLastIndex(({ isDeleted, isCleared }) => isDeleted ?? isCleared)
  const [lost, next] = place === -1 ? [] : written.slice(place)
  const owner = [...processes.values()].find(({ name }) => lost !== undefined && isProcess(lost.holder, name))
  if (lost === undefined || owner === undefined) return [last.holder]
  // An order on the Lease is no renewal. The owner may also have ended since.
  const { at: renewedAt } = written.slice(0, place + 1).findLast(({ by }) => by === owner.name) ?? lost
  const hasEnded = !owner.isRunning && (asleepSince(owner) ?? at) < at
  if (hasEnded || at - renewedAt > LEASE_MS) return [last.holder]
  const isKnown = lost.isCleared || (owner.begunAt !== undefined && owner.begunAt < next!.at)
  return isKnown ? [lost.holder] : [lost.holder, last.holder]
}

/** Returns the milliseconds in which a process could see events and react. */
export function ableMs(world: Renewed, process: Process, since: number, at: number): number {
  const spans = [...process.sleeps, ...unsure(world, process, at)]
  return remainderMs(spans, Math.max(since, process.startedAt), at)
}

/**
 * Returns the spans in which a process could not renew its Lease: by its last answers, the Lease might have ended during a call, and then
 * the process may make no call.
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
