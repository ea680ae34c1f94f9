import type { SeenEndpoints } from './events.ts'

type Labels = SeenEndpoints['labels']

/**
 * Recognizes the writes by which changed labels of a Service come to its endpoints: one write for each object. All other writes of labels,
 * such as those by a program that labels endpoints itself, are rewrites.
 */
export interface LabelChanges {
  /** `objects` has the UIDs of the objects of the Service. @returns whether a label has changed */
  serviceChanged(before: Labels, now: Labels, objects: Iterable<string>): boolean
  /** Returns whether the write changes only labels that have changed in the Service before. */
  followsService(before: SeenEndpoints, now: SeenEndpoints): boolean
  gone(object: string): void
}

export function createLabelChanges(): LabelChanges {
  /** The names of the labels that have changed in the Service and not in the object yet, by the UID of the object. */
  const ahead = new Map<string, Set<string>>()

  return {
    serviceChanged(before, now, objects) {
      const names = differing(before, now)
      if (names.length === 0) return false
      for (const object of objects) ahead.set(object, new Set([...(ahead.get(object) ?? []), ...names]))
      return true
    },
    followsService(before, now) {
      const names = differing(before.labels, now.labels)
      const own = ahead.get(now.uid)
      if (own === undefined || names.length === 0 || !names.every((name) => own.has(name))) return false
      ahead.delete(now.uid)
      return true
    },
    gone: (object) => void ahead.delete(object),
  }
}

function differing(before: Labels = {}, now: Labels = {}): string[] {
  return Object.keys({ ...before, ...now }).filter((name) => before[name] !== now[name])
}
