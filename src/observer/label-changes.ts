import type { SeenEndpoints } from './events.ts'

type Labels = SeenEndpoints['labels']

/**
 * Tells the writes by which the labels of a Service come to its endpoints, which are one for each of its objects, from those that put labels
 * on endpoints which the Service does not have, or take these away.
 */
export interface LabelChanges {
  /** @returns whether any label is another. `objects`: the UIDs of its own */
  serviceChanged(before: Labels, now: Labels, objects: Iterable<string>): boolean
  /** The write brings what has changed in the Service since, and nothing else. */
  followsService(before: SeenEndpoints, now: SeenEndpoints): boolean
  gone(object: string): void
}

export function createLabelChanges(): LabelChanges {
  /** By the UID of the object: names of labels that have changed in its Service, and not in it. */
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
