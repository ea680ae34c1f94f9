import type { Heir, Observation } from '../../machines/pod-upgrade/context.ts'
import type { Journal, PodView, ReadJournal } from '../pods/glossary.ts'
import { isHeir } from '../pods/heir.ts'
import { openJournal } from '../pods/open-journal.ts'

/** What has come in the place of a pod that was at the address its targets mean; of several, the last that is known. */
export function heirOf(gone: PodView, record: Journal | undefined, pods: Iterable<Observation>): Heir | null {
  let heir: Heir | null = null
  for (const { pod, stored } of pods) {
    if (pod.ip === undefined || !isHeir(gone, pod)) continue
    heir = { pod, sameAddress: pod.ip === gone.ip, isDrained: isDrainedFor(stored, record) }
  }
  return heir
}

/** What was drained for the pod before was in rotation when it was drained for this one: its own record counts. */
function isDrainedFor(stored: ReadJournal, before: Journal | undefined): boolean {
  const own = touched(openJournal(stored))
  const left = touched(before)
  const isOwn = (one: Journal['targets'][number]): boolean =>
    own.some(
      ({ loadBalancer, scope, target }) => loadBalancer === one.loadBalancer && scope === one.scope && target === one.target,
    )
  return left.length > 0 && left.every(isOwn)
}

function touched(journal: Journal | undefined): Journal['targets'] {
  return journal?.targets.filter(({ untouched }) => !untouched) ?? []
}
