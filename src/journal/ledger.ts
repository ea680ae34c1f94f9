import type { RecordProblem } from '../reasons/record-reasons.ts'
import { z } from 'zod'
import type { ContainerImage, JournalTarget, Term } from '../pods/glossary.ts'
import type { WorkloadId } from '../pods/workload-id.ts'
import type { Reason } from '../reasons/reason.ts'
import { issueWords } from './issue-words.ts'
import { newerVersion } from './newer-version.ts'
import { storedReason, StoredReason } from './stored-reason.ts'

/*
 * A ledger is the record of a run: its request, and the uid, address, targets and prior state of every pod, so that targets can be put
 * back even after the pod and its journal are gone. The ConfigMap `sluice-run-ID` has the header and the first entries,
 * `sluice-run-ID-1` and so on have the others. An entry is a key of its own, and changes without the others.
 */

export const LEDGER_LABEL = 'sluice.dev/ledger'
/**
 * The workloads of the run, such as `statefulset/web,clonesets.apps.example.dev/api`. The header names them too, and is written later.
 */
export const WORKLOADS_ANNOTATION = 'sluice.dev/workloads'
/** The version of the whole ledger, which its header states. See newer-version.ts. */
const VERSION = 1
/** An entry takes about 0.3 KB. */
export const ENTRIES_PER_CHUNK = 1000
/** A ConfigMap holds 1 MiB. The limit leaves room for entries that change or are added later. */
export const BYTES_PER_CHUNK = 512 * 1024

/**
 * - `open`: the pod may be drained; its journal, or a read-back, tells whether it is
 * - `restore`: the pod is gone, and its targets may be restored for the pod in its place
 * - `closed`: no work is left
 * - `abandoned`: the targets stay out of rotation, for an operator to decide
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
   * The epoch of the owner of a restore intent. The epoch makes the intent of the next owner a change, so that a late write of the
   * former owner cannot close the entry.
   */
  epoch?: number
  /**
   * For an open entry: nothing was drained for the pod when the last process of the run ended. A pod that has gone since then leaves
   * nothing behind.
   */
  idle?: true
  /**
   * The term of an owner that found nothing open on the pod. A drain intent of an earlier term that arrived since, and that no owner has
   * claimed, is void.
   */
  voidBelow?: Term
  /** For a closed entry: its targets stay out, since no pod was to take its place. */
  leftOut?: true
  /** For a pod that appeared during the run: a number greater than that of all pods before it. */
  order?: number
  /** The accounts for the report, the newest last: see account.ts. Only the report reads them. */
  accounts?: unknown[]
}

/** A pod as it was before the run. For a pod that the run found half done, the pod as it was when it was last in rotation. */
export interface FormerPod {
  /** The images of the containers that the run changes. */
  images: ContainerImage[]
  /** The label `controller-revision-hash`. */
  revision?: string
}

export interface LedgerWorkload extends WorkloadId {
  uid: string
  /** The templates that the run changes, as they were before it. Absent where the run changes no template. */
  templates?: FormerTemplate[]
}

/** A template as it was before the run: the template of the workload, or of an object that the workload made, such as a ReplicaSet. */
export interface FormerTemplate {
  of: WorkloadId
  /** The images of the containers that the run changes in the template. */
  images: ContainerImage[]
}

/** A part of a load balancer, by the names that its targets have on record. */
export interface RetiredPlace {
  loadBalancer: string
  scope: string
}

export interface Aborted {
  by: string
  left: Reason[]
  /** The number of further reasons, which the ledger has not kept. */
  more?: number
  /** Absent where no workload is mixed. */
  mixed?: MixedWorkload[]
}

/** A workload whose template an abort has given its former images, while some of its pods run others. */
export interface MixedWorkload {
  /** The name of the workload, such as `statefulset/web`. */
  workload: string
  /** The number of pods that run other images than the template. */
  upgraded: number
  pods: number
}

export interface LedgerHeader {
  run: string
  workloads: LedgerWorkload[]
  images: ContainerImage[]
  /** The run that this run takes back. */
  undoes?: string
  /**
   * Places that earlier runs have on record, and that the config no longer has. An operator has confirmed that they send these pods no
   * requests.
   */
  retired?: RetiredPlace[]
  /** The start in wall-clock time, ISO 8601, for display and to keep the newest ledgers. */
  startedAt: string
  /** The number of ConfigMaps. */
  chunks: number
  /** The end of the run. Present once nothing is open. */
  finishedAt?: string
  /** The abort that ended the run: the name of its giver, and the templates that were left as they are. */
  aborted?: Aborted
  /**
   * For a finished run: an earlier run of its workloads stays open, for pods that this run did not cover. This run does not take it
   * over.
   */
  part?: true
  /** The accounts for the report, one for each process, the newest last: see account.ts. Only the report reads them. */
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
/** The key of the header in the data of the first ConfigMap. */
export const HEADER_KEY = 'header'
/**
 * The key of the process that began last, in each ConfigMap. Every write tests it, so that no write of an earlier process arrives late.
 */
export const FENCE_KEY = 'fence'

/** The maximum number of templates that an abort has left and that the header gives reasons for, and the maximum bytes of each reason. */
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

/**
 * Writes an entry without its uid, which is its key. The order of the fields is fixed, so that an entry has one text, whether it was
 * read or made.
 */
export function writeEntry(entry: LedgerEntry): string {
  return JSON.stringify(Entry.parse(entry))
}

export function chunkName(run: string, chunk: number): string {
  return chunk === 0 ? `sluice-run-${run}` : `sluice-run-${run}-${chunk}`
}

/** Returns the data of each ConfigMap of a new ledger, in the order of their numbers. */
export function ledgerChunks({ header, entries }: Ledger): Record<string, string>[] {
  const [first, ...others] = entryChunks(Array.from(entries.values(), (entry) => [entry.uid, writeEntry(entry)] as const))
  return [{ [HEADER_KEY]: writeHeader({ ...header, chunks: others.length + 1 }), ...first }, ...others]
}

/** Divides written entries, by uid, among ConfigMaps, by ENTRIES_PER_CHUNK and BYTES_PER_CHUNK. */
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

/** One ConfigMap of a ledger. */
export interface LedgerPart {
  name: string
  /** The run, by the label. */
  run: string
  /** The workloads, by the annotation. ConfigMaps that were added to a ledger later have none. */
  workloads: string[]
  data: Record<string, string>
  /** The `resourceVersion` of the ConfigMap. */
  version: string
}

/** The facts about the ConfigMaps of a ledger that a write depends on. */
export interface LedgerPlaces {
  /** The number of the ConfigMap that has an entry, or that a new entry would be added to. */
  chunkOf: Map<string, number>
  /** The ConfigMaps by number. A record of an older sluice has no fence. */
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
  /** The workloads by the annotation of the first ConfigMap, which every version writes alike. Empty where the annotation is missing. */
  workloads: readonly string[]
}

export type ReadLedger = PlacedLedger | UnreadableLedger

/**
 * Reads every ledger among these ConfigMaps. A ledger without its header is left out: the header is written last, so its run never began
 * and drained nothing.
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

/** Returns the first ConfigMaps without a header, of runs of these workloads that have not begun. */
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
