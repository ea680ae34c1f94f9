import { pause } from '../../kube/pause.ts'
import type { Clock } from '../../ports/clock.ts'
import { GONE_FOR_MS } from './ask-targets.ts'
import type { Found, Listener, Where } from './find-targets.ts'
import { findTargets } from './find-targets.ts'
import type { KnownEntries } from './known-entries.ts'

export interface FindAll extends Where {
  clock: Clock
  entries: KnownEntries
}

/**
 * Finds all entries of a pod that is about to be drained. Undefined where the entries are not certain. A list without a known entry is
 * asked for again after a pause, and counts only where both answers agree. Otherwise an entry that the list lacks would send requests to
 * the restarting pod.
 */
export async function findAll({ clock, entries, ...where }: FindAll, pod: Listener): Promise<Found | undefined> {
  async function look(): Promise<Found> {
    const [found] = await findTargets(where, [pod])
    entries.note(pod, found!)
    return found!
  }
  const first = await look()
  if (!entries.isShort(pod, first)) return first
  await pause(clock, GONE_FOR_MS)
  const second = await look()
  if (!entries.isShort(pod, second)) return second
  if (namesOf(first) !== namesOf(second)) return undefined
  entries.believe(pod, second)
  return second
}

function namesOf(found: Found): string {
  return JSON.stringify(found.found && found.targets.map(({ loadBalancer, target: { id } }) => [loadBalancer, id]).toSorted())
}
