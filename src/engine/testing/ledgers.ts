import type { Ledger, LedgerEntry, LedgerWorkload } from '../../journal/ledger.ts'
import type { KubeClient } from '../../kube/client.ts'
import { KubeError } from '../../kube/errors.ts'
import type { RunLedgers } from '../ledgers/history.ts'

/** The entry of a pod that may be drained in one load balancer. */
export function entryOf(pod: string, change: Partial<LedgerEntry> = {}): LedgerEntry {
  const target = { loadBalancer: 'edge', target: pod, scope: 'web', prior: 'ready', untouched: false }
  return { uid: `uid of ${pod}`, pod, state: 'open', targets: [target], ...change } as LedgerEntry
}

/** A client for which no pod exists any more. */
export const notFound = {
  async get(path: string) {
    throw new KubeError('not found', { kind: 'definite', method: 'GET', path, status: 404, reason: 'NotFound' })
  },
} as unknown as KubeClient

export interface Recorded {
  startedAt: string
  /** The entry of the run. Absent: the run had nothing to do. */
  entry?: LedgerEntry
  workloads?: LedgerWorkload[]
}

/** The ledgers of a run, each with at most one entry. `ended` gets the start of each ledger that is finished in the end. */
export function ledgersOf(current: Recorded, superseded: Recorded[] = [], finished: Recorded[] = [], elsewhere: Ledger[] = []) {
  const ended: string[] = []
  const store = ({ startedAt, entry, workloads = [] }: Recorded) => ({
    ledger: {
      header: { run: startedAt, startedAt, workloads, chunks: 1 },
      entries: new Map(entry ? [[entry.uid, entry]] : []),
    },
    places: { parts: [{ version: '7' }] },
    async conclude(ending: { finished?: unknown }) {
      if (ending.finished) ended.push(startedAt)
    },
  })
  const ledgers = { current: store(current), superseded: superseded.map(store), finished: finished.map(store), elsewhere }
  return { ledgers: ledgers as unknown as RunLedgers, ended }
}
