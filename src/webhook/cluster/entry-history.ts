import { LIMITS } from '../rules/limits.ts'
import type { PastState, Since } from './cluster-view.ts'

export interface EntryTurn {
  /** The instant of the write, in milliseconds since 1970. */
  readonly at: number
  readonly from: PastState
  readonly to: PastState
}

/** The states that the stored endpoints of pods had before, as far as this process has seen them change. */
export interface EntryHistory {
  /** Notes that the objects of one place have another state of a pod. */
  note(podUid: string, place: string, turn: EntryTurn): void
  /**
   * The state before the instant of a `since`. Both have seconds, so that a write in the same second may come before or after it: it counts as
   * its consequence where it led to what the writer still wishes. Undefined where no later change is known, so that the stored state is that of the
   * instant, and where this process does not know back so far.
   */
  stateBefore(podUid: string, place: string, since: Since): PastState | undefined
  /** The pod is in the view. Its history is kept until `forget`. */
  see(podUid: string): void
  forget(podUid: string): void
}

interface Place {
  readonly turns: EntryTurn[]
  /** The instant of the last turn that was dropped. */
  droppedAt: number
}

/** A pod that turns more often has a shorter history. */
const MOST_TURNS = 8
/** An object may name a pod before the pod is seen, or after it is gone. Any writer may name pods that never were. */
const MOST_UNSEEN = 1_000

export function createEntryHistory(isSeen: (podUid: string) => boolean): EntryHistory {
  const pods = new Map<string, Map<string, Place>>()
  const unseen = new Set<string>()

  function forget(podUid: string): void {
    pods.delete(podUid)
    unseen.delete(podUid)
  }

  function drop(place: Place): void {
    place.droppedAt = Math.max(place.droppedAt, place.turns.shift()!.at)
  }

  return {
    note(podUid, name, turn) {
      if (isSameState(turn.from, turn.to)) return
      const places = pods.get(podUid) ?? new Map<string, Place>()
      const place = places.get(name) ?? { turns: [], droppedAt: Number.NEGATIVE_INFINITY }
      pods.set(podUid, places.set(name, place))
      place.turns.push(turn)
      // No rule keeps for longer, so that no question goes back so far.
      while (place.turns[0]!.at < turn.at - LIMITS.keepMs) drop(place)
      if (place.turns.length > MOST_TURNS) drop(place)
      if (isSeen(podUid)) return
      unseen.add(podUid)
      if (unseen.size > MOST_UNSEEN) forget(unseen.keys().next().value!)
    },
    stateBefore(podUid, name, { at, wished }) {
      const second = Math.floor(at / 1_000) * 1_000
      const { turns = [], droppedAt = Infinity } = pods.get(podUid)?.get(name) ?? {}
      if (second <= droppedAt) return undefined
      const next = turns.findIndex((turn) => turn.at >= second + 1_000)
      const last = turns.at(next === -1 ? -1 : next - 1)
      const isConsequence = next !== 0 && last !== undefined && last.at >= second && isSameState(last.to, wished)
      return isConsequence ? last.from : turns[next]?.from
    },
    see: (podUid) => void unseen.delete(podUid),
    forget,
  }
}

export function isSameState(one: PastState, other: PastState): boolean {
  if (one === 'absent' || other === 'absent') return one === other
  return one.ready === other.ready && one.serving === other.serving
}
