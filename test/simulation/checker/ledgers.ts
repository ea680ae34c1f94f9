/** The records of runs, read from their ConfigMaps independently of sluice. Only the fields that the rules need are read. */
import { addressOf, entryName } from './journal.ts'

/** The entry of a ledger about a pod that is gone. */
export interface LedgerEntry {
  state: string
  /** True where the targets stay out, since no pod was to come in its place. */
  leftOut?: true
  owner: string | undefined
  /** The targets of the pod. `address` is the address of the pod that is meant. */
  targets: { balancer: string; target: string; address: string | undefined; untouched: boolean }[]
}

export interface Ledger extends LedgerHeader {
  /** The time of its creation, and the place in the history. */
  at: number
  entry: number
  /** True where its creator had ended by then. */
  isOrphan: boolean
  /** The process that recorded the end of the run. */
  finishedBy: string | undefined
}

export interface LedgerHeader {
  /** True where the run is finished. */
  finished: boolean
  /** True where an order ended the run. */
  aborted: boolean
  /** True where the run takes another run back. */
  isUndo: boolean
  /** True where the run has changed a template. */
  hasSetTemplate: boolean
  /** True where the run is about a pod or a template. */
  hasWork: boolean
  /** The uids of the pods. */
  pods: string[]
}

export function dataOf(object: unknown): Record<string, string> {
  return ((object ?? {}) as { data?: Record<string, string> }).data ?? {}
}

/** The prefix of the name of each run's ledger. */
export const LEDGER = 'sluice-run-'

/** Returns the run that the newest undo takes back: the newest run before it that was no undo itself, and had work. */
export function undoneRun({ ledgers }: { ledgers: Map<string, Ledger> }): string | undefined {
  const runs = [...ledgers]
  const before = runs.slice(
    0,
    Math.max(
      0,
      runs.findLastIndex(([, { isUndo }]) => isUndo),
    ),
  )
  return before.findLast(([, { isUndo, hasWork }]) => !isUndo && hasWork)?.[0].slice(LEDGER.length)
}

/** Returns the data of a run's ledger, or of a part of it, by key. Empty for any other ConfigMap. */
export function ledgerOf(object: unknown): Record<string, string> {
  return readLedger(object).key === undefined ? {} : dataOf(object)
}

/** Reads a ledger. `header` is set only where this ConfigMap has it. */
export function readLedger(object: unknown): { key?: string; header?: LedgerHeader } {
  const { metadata } = (object ?? {}) as { metadata?: { name: string } }
  if (!metadata?.name.startsWith(LEDGER)) return {}
  const { header: text, ...pods } = dataOf(object)
  if (text === undefined) return { key: metadata.name }
  const header = {
    finished: text.includes('"finishedAt"'),
    aborted: text.includes('"aborted"'),
    isUndo: text.includes('"undoes"'),
    hasSetTemplate: text.includes('"before"'),
    hasWork: Object.keys(pods).length > 0 || text.includes('"before"'),
    pods: Object.keys(pods),
  }
  return { key: metadata.name, header }
}

export function readLedgerEntry(text: string): LedgerEntry | undefined {
  try {
    const { state, leftOut, owner, targets } = JSON.parse(text) as {
      state: string
      leftOut?: true
      owner?: { kind: string; name: string }
      targets: { loadBalancer: string; target: string; untouched: boolean }[]
    }
    return {
      state,
      ...(leftOut ? { leftOut } : {}),
      owner: owner && `${owner.kind}/${owner.name}`,
      targets: targets.map(({ loadBalancer, target, untouched }) => ({
        balancer: loadBalancer,
        target: entryName(target),
        address: addressOf(target),
        untouched,
      })),
    }
  } catch {
    return undefined
  }
}
