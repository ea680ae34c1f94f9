import type { JournalText } from './journal.ts'

/** What the ledgers say of drain intents that nobody has claimed: by which of them nothing was drained, nor will be. */
export interface VoidIntents {
  /** This is what a part of the run's ledger has by now. */
  note(run: string, data: Record<string, string>): void
  isSaid(uid: string, journal: JournalText, ledgers: Iterable<KnownLedger>): boolean
}

export interface KnownLedger {
  run: string
  finished: boolean
  /** When it was made. */
  at: number
}

export function createVoidIntents(): VoidIntents {
  /** By run and uid. */
  const entries = new Map<string, { owner: string | undefined; isIdle: boolean; below: number }>()
  return {
    note(run, data) {
      for (const [uid, text] of Object.entries(data)) {
        const [, below = 0] = /"voidBelow":(\d+)/.exec(text) ?? []
        const [owner] = /"owner":\{[^}]*\}/.exec(text) ?? []
        entries.set(`${run} ${uid}`, { owner, isIdle: text.includes('"idle":true'), below: Number(below) })
      }
    },
    isSaid(uid, { run, epoch, step, isClaim }, ledgers) {
      const known = [...ledgers]
      const own = known.find((one) => one.run === run)
      if (step !== 'drain' || isClaim || own === undefined) return false
      const entry = entries.get(`${run} ${uid}`)
      if (own.finished || entry?.isIdle) return true
      // Those before it say nothing of it, nor those that knew the pod as another owner's: epochs are those of one Lease.
      return known.some((one) => {
        const found = entries.get(`${one.run} ${uid}`)
        return found !== undefined && one.at >= own.at && found.owner === entry?.owner && epoch < found.below
      })
    },
  }
}
