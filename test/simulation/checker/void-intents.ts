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
  /** By run and uid: the epochs below this. */
  const bounds = new Map<string, number>()
  return {
    note(run, data) {
      for (const [uid, text] of Object.entries(data)) {
        const [, bound] = /"voidBelow":(\d+)/.exec(text) ?? []
        if (bound === undefined) bounds.delete(`${run} ${uid}`)
        else bounds.set(`${run} ${uid}`, Number(bound))
      }
    },
    isSaid(uid, { run, epoch, step, isClaim }, ledgers) {
      const known = [...ledgers]
      const own = known.find((one) => one.run === run)
      if (step !== 'drain' || isClaim || own === undefined) return false
      // Those before it say nothing of it: the epochs may have begun anew since.
      return own.finished || known.some((one) => one.at >= own.at && epoch < (bounds.get(`${one.run} ${uid}`) ?? 0))
    },
  }
}
