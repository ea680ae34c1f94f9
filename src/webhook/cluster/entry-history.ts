import type { EntryState } from './cluster-view.ts'

/** The states that the stored endpoints of pods had before, as far as this process has seen them. */
export interface EntryHistory {
  /** Notes the state of a pod in the objects of one kind of a Service, at an instant in milliseconds since 1970. */
  note(podUid: string, place: string, state: EntryState, at: number): void
  /** The state that the pod had at the instant. Undefined where this process does not know back so far. */
  stateAt(podUid: string, place: string, at: number): EntryState | undefined
  forget(podUid: string): void
}

interface Turn {
  readonly at: number
  readonly state: EntryState
}

/** A pod that turns more often has a shorter history. */
const MOST_TURNS = 8

export function createEntryHistory(): EntryHistory {
  const turns = new Map<string, Map<string, Turn[]>>()
  return {
    note(podUid, place, state, at) {
      const places = turns.get(podUid) ?? new Map<string, Turn[]>()
      const own = places.get(place) ?? []
      const last = own.at(-1)?.state
      if (last !== undefined && last.ready === state.ready && last.serving === state.serving) return
      own.push({ at, state })
      if (own.length > MOST_TURNS) own.shift()
      turns.set(podUid, places.set(place, own))
    },
    stateAt: (podUid, place, at) =>
      turns
        .get(podUid)
        ?.get(place)
        ?.findLast((turn) => turn.at <= at)?.state,
    forget: (podUid) => void turns.delete(podUid),
  }
}
