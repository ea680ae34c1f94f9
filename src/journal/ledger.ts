import type { RecordProblem } from '../reasons/record-reasons.ts'
import { z } from 'zod'
import type { ContainerImage, JournalTarget, Term } from '../pods/glossary.ts'
import type { WorkloadId } from '../pods/workload-id.ts'
import type { Reason } from '../reasons/reason.ts'
import { issueWords } from './issue-words.ts'
import { newerVersion } from './newer-version.ts'
import { storedReason, StoredReason } from './stored-reason.ts'

/*
 * The record of a run: what was asked for, and for every pod its uid, address, targets and prior state, so that what
 * was drained can be put back even where the pod took its journal with it. It is kept in ConfigMaps beside the
 * workload: `sluice-run-ID` has the header and the first entries, `sluice-run-ID-1` and so on the others. An entry is a
 * key of its own, so that one can be changed without the others.
 */

export const LEDGER_LABEL = 'sluice.dev/ledger'
/** Which workloads it is to be about, such as `statefulset/web,clonesets.apps.example.dev/api`: its header, which says so, comes later. */
export const WORKLOADS_ANNOTATION = 'sluice.dev/workloads'
/** Of all that the ledger has; the header says it, as it says what its reader has to know. See newer-version.ts. */
const VERSION = 1
/** About 0.3 KB an entry. */
export const ENTRIES_PER_CHUNK = 1000
/** A ConfigMap holds 1 MiB; entries change and are added later. */
export const BYTES_PER_CHUNK = 512 * 1024

/**
 * - `open`: may be drained; the pod's journal, or a read-back, says whether it is
 * - `restore`: the pod is gone, and its targets may be restored for the pod in its place
 * - `closed`: nothing is left to do
 * - `abandoned`: left out of rotation, for a person
 */
export type EntryState = 'open' | 'restore' | 'closed' | 'abandoned'

export interface LedgerEntry {
  uid: string
  pod: string
  address?: string
  node?: string
  owner?: { kind: string; name: string; uid: string; apiVersion: string }
  targets: JournalTarget[]
  /** Absent in records of an older sluice. */
  before?: FormerPod
  state: EntryState
  /**
   * Of a restore intent: the epoch of its owner. Found by simulation (harsh seed 10869548): the next owner had the same to write, which
   * is no write, and what the one before had sent long ago closed the entry in the middle of it.
   */
  epoch?: number
  /**
   * Of an open one: when the last process of the run came to its end, nothing was drained for it: it was not begun, or was home. A
   * pod that has gone since leaves nothing behind.
   */
  idle?: true
  /**
   * An owner had found nothing open on the pod then: a drain intent of an earlier one that nobody has claimed has come since, and
   * counts for nothing.
   */
  voidBelow?: Term
  /** Of a closed one: its targets stay out, since nothing was to come in its place. */
  leftOut?: true
  /** Of a pod that has come in the middle of the run: greater than of all before it. */
  order?: number
  /** For the report, the newest last: see account.ts. Nothing else reads them. */
  accounts?: unknown[]
}

/** A pod as it was before the run; where the run found it half done, as it was when it was last in rotation. */
export interface FormerPod {
  /** Of the containers that the run changes. */
  images: ContainerImage[]
  /** Label `controller-revision-hash`. */
  revision?: string
}

export interface LedgerWorkload extends WorkloadId {
  uid: string
  /** The templates that the run changes, as they were before it; absent where it changes none. */
  templates?: FormerTemplate[]
}

/** A template as it was before the run: of the workload itself, or of what the workload has made, such as a ReplicaSet. */
export interface FormerTemplate {
  of: WorkloadId
  /** Of the containers that the run changes in it. */
  images: ContainerImage[]
}

/** A part of a load balancer, by the names that its targets are recorded with. */
export interface RetiredPlace {
  loadBalancer: string
  scope: string
}

export interface Aborted {
  by: string
  left: Reason[]
  /** So many more reasons, which the ledger has not kept. */
  more?: number
  /** Absent where there is none. */
  mixed?: MixedWorkload[]
}

/** A workload whose template an abort has given its former images, while pods of it run others. */
export interface MixedWorkload {
  /** Such as `statefulset/web`. */
  workload: string
  /** So many of its pods run other images than the template. */
  upgraded: number
  pods: number
}

export interface LedgerHeader {
  run: string
  workloads: LedgerWorkload[]
  images: ContainerImage[]
  /** The run that this one takes back. */
  undoes?: string
  /** What earlier runs have on record and the config has no more: somebody has said that it gets no requests for these pods. */
  retired?: RetiredPlace[]
  /** Wall time, ISO 8601, for display and for keeping the newest. */
  startedAt: string
  /** ConfigMaps in all. */
  chunks: number
  /** Nothing is open any more. */
  finishedAt?: string
  /** It was ended by an order: whose, and what of its templates was left as it is. */
  aborted?: Aborted
  /** Of a finished one: an earlier run of its workloads stays open, for pods that it was not about. That is not taken over by it. */
  part?: true
  /** For the report, one a process, the newest last: see account.ts. Nothing else reads them. */
  accounts?: unknown[]
}

export interface Ledger {
  header: LedgerHeader
  entries: Map<string, LedgerEntry>
}

const Images = z.array(z.object({ container: z.string(), image: z.string() }))

const Id = z.object({ group: z.string(), version: z.string(), kind: z.string(), plural: z.string(), name: z.string() })

const Workload = Id.extend({
  uid: z.string(),
  templates: z.array(z.object({ of: Id, images: Images })).optional(),
})

const Header = z.object({
  v: z.literal(VERSION),
  run: z.string(),
  workloads: z.array(Workload),
  images: Images,
  undoes: z.string().optional(),
  retired: z.array(z.object({ loadBalancer: z.string(), scope: z.string() })).optional(),
  startedAt: z.string(),
  chunks: z.number().int().min(1),
  finishedAt: z.string().optional(),
  aborted: z
    .object({
      by: z.string(),
      left: z.array(StoredReason),
      more: z.number().exactOptional(),
      mixed: z.array(z.object({ workload: z.string(), upgraded: z.number(), pods: z.number() })).exactOptional(),
    })
    .optional(),
  part: z.literal(true).optional(),
  accounts: z.array(z.unknown()).optional(),
})

const Entry = z.object({
  pod: z.string(),
  address: z.string().optional(),
  node: z.string().optional(),
  owner: z.object({ kind: z.string(), name: z.string(), uid: z.string(), apiVersion: z.string() }).optional(),
  targets: z.array(
    z.object({ loadBalancer: z.string(), target: z.string(), scope: z.string(), prior: z.unknown(), untouched: z.boolean() }),
  ),
  before: z.object({ images: Images, revision: z.string().optional() }).optional(),
  state: z.enum(['open', 'restore', 'closed', 'abandoned']),
  epoch: z.number().int().min(0).optional(),
  idle: z.literal(true).optional(),
  voidBelow: z.object({ lease: z.string(), epoch: z.number().int().min(0) }).optional(),
  leftOut: z.literal(true).optional(),
  order: z.number().int().min(0).optional(),
  accounts: z.array(z.unknown()).optional(),
})

const utf8 = new TextEncoder()
/** Of the header among the data of the first ConfigMap. */
export const HEADER_KEY = 'header'
/** In each ConfigMap, who has begun with it last: every write tests it, so that none that was sent before arrives after. */
export const FENCE_KEY = 'fence'

/** Templates that an abort has left, of which the header says why, and bytes of each reason. */
const KEPT_LEFT = 20
const MOST_OF_LEFT = 600

export function storedAborted({ by, left, more = 0, mixed = [] }: Aborted): Aborted {
  const others = more + Math.max(0, left.length - KEPT_LEFT)
  const kept = left.slice(0, KEPT_LEFT).map((reason) => storedReason(reason, MOST_OF_LEFT))
  return { by, left: kept, ...(others > 0 && { more: others }), ...(mixed.length > 0 && { mixed }) }
}

export function writeHeader(header: LedgerHeader): string {
  return JSON.stringify({ v: VERSION, ...header } satisfies z.input<typeof Header>)
}

/** Without its uid, which is the key that it stands under. The same text whether it was read or made: one order of fields. */
export function writeEntry(entry: LedgerEntry): string {
  return JSON.stringify(Entry.parse(entry))
}

export function chunkName(run: string, chunk: number): string {
  return chunk === 0 ? `sluice-run-${run}` : `sluice-run-${run}-${chunk}`
}

/** The data of each ConfigMap of a new ledger, in the order of their numbers. */
export function ledgerChunks({ header, entries }: Ledger): Record<string, string>[] {
  const [first, ...others] = entryChunks(Array.from(entries.values(), (entry) => [entry.uid, writeEntry(entry)] as const))
  return [{ [HEADER_KEY]: writeHeader({ ...header, chunks: others.length + 1 }), ...first }, ...others]
}

/** Entries as they are written, by uid, divided so that no ConfigMap gets more of them than it is to have. */
export function entryChunks(texts: Iterable<readonly [string, string]>): Record<string, string>[] {
  const chunks: Record<string, string>[] = [{}]
  let count = 0
  let bytes = 0
  for (const [uid, text] of texts) {
    const size = utf8.encode(text).length + uid.length
    if (count === ENTRIES_PER_CHUNK || (count > 0 && bytes + size > BYTES_PER_CHUNK)) {
      chunks.push({})
      count = 0
      bytes = 0
    }
    chunks.at(-1)![uid] = text
    count += 1
    bytes += size
  }
  return chunks
}

/** One ConfigMap that is a ledger or a part of one. */
export interface LedgerPart {
  name: string
  /** By its label. */
  run: string
  /** By its annotation. Those that a ledger got later have none. */
  workloads: string[]
  data: Record<string, string>
  /** Its `resourceVersion`. */
  version: string
}

/** What a write has to know of the ConfigMaps that a ledger is in. */
export interface LedgerPlaces {
  /** The chunk that an entry stands in, or would be added to. */
  chunkOf: Map<string, number>
  /** By chunk. A record of an older sluice has no fence. */
  parts: { fence: string | undefined; version: string }[]
}

export interface PlacedLedger {
  kind: 'read'
  ledger: Ledger
  places: LedgerPlaces
}

export interface UnreadableLedger {
  kind: 'unreadable'
  run: string
  problem: RecordProblem
  /** By the annotation of its first ConfigMap, which every version writes alike; empty where that is not there. */
  workloads: readonly string[]
}

export type ReadLedger = PlacedLedger | UnreadableLedger

/**
 * Reads every ledger among these ConfigMaps. One without its header was never begun: the chunks are written first, so
 * nothing was drained for it, and it is left out.
 */
export function readLedgers(configMaps: readonly LedgerPart[]): ReadLedger[] {
  const byName = new Map(configMaps.map((part) => [part.name, part]))
  return configMaps.flatMap(({ name, data, workloads }): ReadLedger[] => {
    if (data[HEADER_KEY] === undefined) return []
    const unreadable = (problem: RecordProblem): UnreadableLedger[] => [
      { kind: 'unreadable', run: name.replace(/^sluice-run-/, ''), problem, workloads },
    ]
    try {
      const raw: unknown = JSON.parse(data[HEADER_KEY])
      const newer = newerVersion(raw, VERSION)
      if (newer) return unreadable(newer)
      const { v: _, ...header } = Header.parse(raw)
      const entries = new Map<string, LedgerEntry>()
      const chunkOf = new Map<string, number>()
      const parts: LedgerPlaces['parts'] = []
      for (let chunk = 0; chunk < header.chunks; chunk++) {
        const part = byName.get(chunkName(header.run, chunk))
        if (part === undefined) throw new MissingPart(chunkName(header.run, chunk))
        parts.push({ fence: part.data[FENCE_KEY], version: part.version })
        for (const [uid, text] of Object.entries(part.data)) {
          if (uid === HEADER_KEY || uid === FENCE_KEY) continue
          const entry: unknown = JSON.parse(text)
          const newerEntry = newerVersion(entry, VERSION)
          if (newerEntry) return unreadable(newerEntry)
          entries.set(uid, { uid, ...(Entry.parse(entry) as Omit<LedgerEntry, 'uid'>) })
          chunkOf.set(uid, chunk)
        }
      }
      return [{ kind: 'read', ledger: { header: header as LedgerHeader, entries }, places: { chunkOf, parts } }]
    } catch (error) {
      return unreadable(problemOf(error))
    }
  })
}

class MissingPart extends Error {
  override readonly name = 'MissingPart'
  readonly part: string
  constructor(part: string) {
    super(`the part ${part} is missing`)
    this.part = part
  }
}

function problemOf(error: unknown): RecordProblem {
  if (error instanceof MissingPart) return { code: 'record-part-missing', part: error.part }
  if (error instanceof SyntaxError) return { code: 'record-not-json' }
  const issues = error instanceof z.ZodError ? issueWords(error) : String(error)
  return { code: 'record-invalid', issues }
}

/** First ConfigMaps whose header is not there: of runs of one of these workloads that have not begun, or were about to. */
export function neverBegun(
  configMaps: readonly LedgerPart[],
  workloads: readonly string[],
): (LedgerPart & { fence: string | undefined })[] {
  const isFirst = ({ name, run }: LedgerPart): boolean => name === chunkName(run, 0)
  const isAbout = (part: LedgerPart): boolean => part.workloads.some((one) => workloads.includes(one))
  return configMaps
    .filter((part) => isFirst(part) && part.data[HEADER_KEY] === undefined && isAbout(part))
    .map((part) => ({ ...part, fence: part.data[FENCE_KEY] }))
}
