import type { Clock } from '../../ports/clock.ts'
import { type Offset, sinceOf } from '../source/clock-offset.ts'
import type { SourceChange } from '../source/open-source.ts'
import type { LagLegs } from '../sync-run.ts'

/** The first change of each source that the access cluster does not have yet. */
export interface SeenChanges {
  see(source: string, change: SourceChange): void
  /** Takes all changes: a decision is made about them. */
  take(): DecidedChanges
}

export interface DecidedChanges {
  /** The legs of a write for this source. Undefined where no change of the source has led to the write. */
  lag(source: string, offset: Offset | undefined, sentAt: number, acceptedAt: number): LagLegs | undefined
  /** The writes have failed: the changes wait for the next decision. */
  giveBack(): void
}

interface Seen extends SourceChange {
  readonly seenAt: number
  readonly wallAt: number
}

export function createSeenChanges(clock: Clock): SeenChanges {
  let seen = new Map<string, Seen>()
  return {
    see(source, change) {
      if (!seen.has(source)) seen.set(source, { ...change, seenAt: clock.now(), wallAt: clock.wallNow() })
    },
    take() {
      const decided = seen
      const decidedAt = clock.now()
      seen = new Map()
      return {
        lag(source, offset, sentAt, acceptedAt) {
          const change = decided.get(source)
          if (change === undefined) return undefined
          const { triggerAt, seenAt, wallAt } = change
          const sourceMs = triggerAt === undefined ? undefined : sinceOf(triggerAt, wallAt, offset)
          return {
            ...(sourceMs === undefined ? {} : { sourceMs }),
            decideMs: decidedAt - seenAt,
            sendMs: sentAt - decidedAt,
            acceptMs: acceptedAt - sentAt,
          }
        },
        giveBack() {
          // The first change of a source is the one that has waited longest.
          seen = new Map([...seen, ...decided])
        },
      }
    },
  }
}
