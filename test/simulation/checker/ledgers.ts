/** What runs have on record, read anew here from their ConfigMaps. Only what the judgement needs. */
import { addressOf, entryName } from './journal.ts'

/** What a ledger says of a pod that is gone. */
export interface LedgerEntry {
  state: string
  /** Its targets stay out, since nothing was to come in its place. */
  leftOut?: true
  owner: string | undefined
  /** `address`: whose pod is meant. */
  targets: { balancer: string; target: string; address: string | undefined; untouched: boolean }[]
}

export interface Ledger extends LedgerHeader {
  /** When it was made, and where in the history that is. */
  at: number
  entry: number
  /** Whoever has made it had ended by then. */
  isOrphan: boolean
  /** Who wrote that its run is. */
  finishedBy: string | undefined
}

export interface LedgerHeader {
  /** So is its run. */
  finished: boolean
  /** By an order. */
  aborted: boolean
  /** It takes another run back. */
  isUndo: boolean
  /** It has found another template. */
  hasSetTemplate: boolean
  /** It is about a pod or a template. */
  hasWork: boolean
  /** Uids. */
  pods: string[]
}

export function dataOf(object: unknown): Record<string, string> {
  return ((object ?? {}) as { data?: Record<string, string> }).data ?? {}
}

/** What the name of each run's ledger begins with. */
export const LEDGER = 'sluice-run-'

/** The run that the newest undo takes back: the newest that was no undo itself, and had something to do. */
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

/** What a run's ledger, or a part of one, says by key; nothing of any other ConfigMap. */
export function ledgerOf(object: unknown): Record<string, string> {
  return readLedger(object).key === undefined ? {} : dataOf(object)
}

/** `header` only where this ConfigMap has it. */
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
