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
 * All entries of a pod that is about to be drained. Undefined where it is not known which these are.
 * Found by reading: one list lacked an entry that the plan had found, and the pod was patched while that sent it requests. An entry
 * that is not there is asked for once more, after a pause, and only what was said twice is believed: somebody has removed it.
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
