/**
 * Sticky clients: a cookie, a stick table or `use-server` sends a client to its server even during a drain. A moment without requests from
 * such a client does not prove that it sends no more.
 */
import { forcedState, type ServerState } from './servers-state.ts'
import type { ServerCount } from './stats.ts'
import { formatAddress } from '../address.ts'

/** The seconds for which a session since the drain counts as in progress. */
const STICKY_SECONDS = 5

export interface StickySessions {
  /** Stores the count of the server right after its drain, for the worker of that epoch. */
  drained(server: ServerState, count: ServerCount | undefined, epoch: string): void
  /** The seconds since the last session at the drained server. Undefined if no session began there recently. */
  secondsSince(server: ServerState, count: ServerCount | undefined, epoch: string): number | undefined
}

export function createStickySessions(): StickySessions {
  const atDrain = new Map<string, { epoch: string; sessions: number }>()

  /**
   * Whether a session began after the drain, from the count at the drain. Without a count, because another process drained the server, it
   * uses the last change. That is the drain on HAProxy 2.6, but an earlier time on 2.8 and later, so an earlier session may count too.
   */
  function isSinceDrain(server: ServerState, { sessions, lastSession, lastChange }: ServerCount, epoch: string): boolean {
    const drain = atDrain.get(formatAddress(server))
    if (drain?.epoch === epoch && sessions !== undefined) return sessions > drain.sessions
    // The order of two events in the same second is unknown.
    return lastSession !== undefined && lastChange !== undefined && lastSession < lastChange
  }

  return {
    drained(server, count, epoch) {
      const key = formatAddress(server)
      if (count?.sessions === undefined) atDrain.delete(key)
      else atDrain.set(key, { epoch, sessions: count.sessions })
    },
    secondsSince(server, count, epoch) {
      const ago = count?.lastSession
      if (count === undefined || ago === undefined || forcedState(server) !== 'drain') return undefined
      return ago < STICKY_SECONDS && isSinceDrain(server, count, epoch) ? ago : undefined
    },
  }
}
