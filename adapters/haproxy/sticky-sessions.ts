/**
 * A client that is bound to a server by a cookie, a stick table or `use-server` reaches it though it is drained: that nothing is
 * under way between two requests of such a client is no proof that none comes.
 */
import { forcedState, type ServerState } from './servers-state.ts'
import type { ServerCount } from './stats.ts'
import { formatAddress } from '../address.ts'

/** For so long a session that a drained server got since its drain counts as under way. */
const STICKY_SECONDS = 5

export interface StickySessions {
  /** Keeps what the server had counted right after its drain, in the worker of that epoch. */
  drained(server: ServerState, count: ServerCount | undefined, epoch: string): void
  /** Undefined where no session began at the drained server lately. */
  secondsSince(server: ServerState, count: ServerCount | undefined, epoch: string): number | undefined
}

export function createStickySessions(): StickySessions {
  const atDrain = new Map<string, { epoch: string; sessions: number }>()

  /**
   * By the count at the drain. A server that another process has drained has none here: then by the time of its last change, which is
   * the drain on HAProxy 2.6, and an earlier instant on 2.8 and later: there a session before the drain is taken for one after it.
   */
  function isSinceDrain(server: ServerState, { sessions, lastSession, lastChange }: ServerCount, epoch: string): boolean {
    const drain = atDrain.get(formatAddress(server))
    if (drain?.epoch === epoch && sessions !== undefined) return sessions > drain.sessions
    // In the same second, which of them came first is open.
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
