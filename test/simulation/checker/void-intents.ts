import type { JournalText } from './journal.ts'

/** The drain intents that never take effect, according to the ledgers: nothing was drained by them, nor will be. */
export interface VoidIntents {
  /** Takes the present data of a part of the run's ledger. */
  note(run: string, data: Record<string, string>): void
  isSaid(uid: string, journal: JournalText, ledgers: Iterable<KnownLedger>): boolean
}

export interface KnownLedger {
  run: string
  /** The time of its creation. */
  at: number
}

export function createVoidIntents(): VoidIntents {
  /** By run and uid: the epoch, of this Lease, below which intents are void. */
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
      // Ledgers from before the run, and entries about another Lease, say nothing about the intent.
      return known.some((one) => {
        const found = bounds.get(`${one.run} ${uid}`)
        return found !== undefined && one.at >= own.at && found.lease === lease && epoch < found.below
      })
    },
  }
}
