import type { JournalText } from './journal.ts'

/** What the ledgers say of drain intents that nobody has claimed: by which of them nothing was drained, nor will be. */
export interface VoidIntents {
  /** This is what a part of the run's ledger has by now. */
  note(run: string, data: Record<string, string>): void
  isSaid(uid: string, journal: JournalText, ledgers: Iterable<KnownLedger>): boolean
}

export interface KnownLedger {
  run: string
  /** When it was made. */
  at: number
}

export function createVoidIntents(): VoidIntents {
  /** By run and uid: below which epoch, of the Lease of this uid. */
  const bounds = new Map<string, { lease: string; below: number }>()
  return {
    note(run, data) {
      for (const [uid, text] of Object.entries(data)) {
        const [, lease = '', below = 0] = /"voidBelow":\{"lease":"([^"]*)","epoch":(\d+)\}/.exec(text) ?? []
        bounds.set(`${run} ${uid}`, { lease, below: Number(below) })
      }
    },
    isSaid(uid, { run, epoch, lease, step, isClaim }, ledgers) {
      const known = [...ledgers]
      const own = known.find((one) => one.run === run)
      if (step !== 'drain' || isClaim || own === undefined) return false
      // Those before it say nothing of it, nor those of another Lease.
      return known.some((one) => {
        const found = bounds.get(`${one.run} ${uid}`)
        return found !== undefined && one.at >= own.at && found.lease === lease && epoch < found.below
      })
    },
  }
}
