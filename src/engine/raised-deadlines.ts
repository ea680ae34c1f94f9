import { UNNAMED_MARGIN_MS } from '../../machines/pod-upgrade/facts.ts'
import type { Plan, RaisedDeadline } from '../plan/plan.ts'
import type { PodView } from '../pods/glossary.ts'
import type { RunSettings } from './settings.ts'

/**
 * Raises the restart deadline of pods whose restart only time can prove: their kubelet reports no generation, and may send no Events. No
 * deadline is shorter than the proof that it waits for. Both times begin after the grace period.
 */
export function raisedDeadlines(
  { pods, undoes }: Pick<Plan, 'pods' | 'undoes'>,
  viewOf: (uid: string) => PodView | undefined,
  { restartDeadlineMs, rollbackDeadlineMs }: Pick<RunSettings, 'restartDeadlineMs' | 'rollbackDeadlineMs'>,
): RaisedDeadline[] {
  const deadline = undoes === undefined ? 'restart' : 'rollback'
  const configuredMs = deadline === 'restart' ? restartDeadlineMs : rollbackDeadlineMs
  if (configuredMs >= UNNAMED_MARGIN_MS) return []
  const patched = pods.filter(({ action }) => action === 'adopt' || action === 'upgrade')
  const slow = patched.flatMap(({ uid, name }) => (viewOf(uid)?.observedGeneration === 0 ? [name] : []))
  return slow.length === 0 ? [] : [{ deadline, configuredMs, raisedMs: UNNAMED_MARGIN_MS, pods: slow }]
}
