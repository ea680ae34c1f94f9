import type { Ledger } from '../../journal/ledger.ts'

/** Reports whether the run changed something, or was about to. */
export function hasChanged({ header, entries }: Ledger): boolean {
  return entries.size > 0 || header.workloads.some(({ templates }) => templates !== undefined)
}
