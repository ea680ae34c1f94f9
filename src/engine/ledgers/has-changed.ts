import type { Ledger } from '../../journal/ledger.ts'

/** It changed something, or was about to. */
export function hasChanged({ header, entries }: Ledger): boolean {
  return entries.size > 0 || header.workloads.some(({ templates }) => templates !== undefined)
}
