import type { Observation } from '../../machines/pod-upgrade/context.ts'
import type { ContainerImage } from '../pods/glossary.ts'
import { beyondUndrained, withinUndrained } from '../pods/needs-drain.ts'
import { openJournal } from '../pods/open-journal.ts'
import { RunError } from './errors.ts'

/**
 * Throws where the config now wants a drain for a pod that was patched without one: its next images of the same containers would get none
 * either. An unpatched pod is decided anew.
 */
export function assertStillUndrained(
  { pod, stored }: Observation,
  wanted: readonly ContainerImage[],
  notFor: readonly string[],
): void {
  const journal = openJournal(stored)
  if (journal?.generation === undefined) return
  const containers = beyondUndrained(journal, { pod, wanted: withinUndrained(journal, wanted), notFor })
  if (containers.length > 0) throw new RunError('preflight', { code: 'half-done-undrained', pod: pod.name, containers })
}
