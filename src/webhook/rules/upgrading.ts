import { journalOf } from '../../journal/journal.ts'
import { runsImage } from '../../pods/witness.ts'
import type { ContainerView, Journal, PodView } from '../../pods/glossary.ts'
import { JOURNAL_KEY, podView } from '../../pods/view.ts'
import { RuleError } from './rules-error.ts'

interface WithRecord {
  readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> }
  readonly status?: { readonly conditions?: readonly { readonly type?: string }[] }
}

/** False for most pods, without the cost of reading the whole pod. */
function hasRecord({ metadata, status }: WithRecord): boolean {
  return metadata?.annotations?.[JOURNAL_KEY] !== undefined || (status?.conditions ?? []).some(({ type }) => type === JOURNAL_KEY)
}

interface Upgrade {
  readonly journal: Journal
  readonly pod: PodView
}

/** The upgrade that has the pod out of rotation. An upgrade of containers that need no drain is none. */
function upgradeOf(raw: object): Upgrade | undefined {
  if (!hasRecord(raw)) return undefined
  const metadata = (raw as { metadata: object }).metadata
  // A record in a cache, or in a file without it, may have no version.
  const pod = podView({ ...raw, metadata: { resourceVersion: '', ...metadata } })
  const stored = journalOf(pod)
  if (stored.kind === 'unreadable') throw new RuleError('failed', `the record ${JOURNAL_KEY} of the pod cannot be read`)
  if (stored.kind === 'none' || stored.journal.step === 'closed' || stored.journal.undrained !== undefined) return undefined
  return { journal: stored.journal, pod }
}

/** True from the record of the drain until the pod is back in all its load balancers. */
export function isUpgrading(raw: object): boolean {
  return upgradeOf(raw) !== undefined
}

/**
 * True where the containers that the upgrade of the pod changes are replaced and ready. Also for a pod without an upgrade that is ready.
 * One look has no history, so this is less than the proof of the engine (witness.ts): an old container that crashes right before the patch
 * may pass for new, for the moment until the kubelet replaces it, where both images are the same.
 */
export function isNewContainerReady(raw: object): boolean {
  const upgrade = upgradeOf(raw)
  if (upgrade === undefined) return isReadyNow(raw)
  const { journal, pod } = upgrade
  // The pod is not patched yet.
  if (journal.step === 'drain') return false
  // The engine has proven the restart before it records the restore. Without an image patch it puts back the untouched pod.
  if (journal.step === 'restore') return pod.ready
  if (pod.observedGeneration < (journal.generation ?? 0)) return false
  return pod.containers.every((container) => isReplaced(container, journal)) && pod.ready
}

function isReadyNow(raw: object): boolean {
  const { conditions = [] } = (raw as { status?: { conditions?: { type?: string; status?: string }[] } }).status ?? {}
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True')
}

function isReplaced(container: ContainerView, { baseline }: Journal): boolean {
  const before = baseline.find(({ name }) => name === container.name)
  if (before === undefined || before.image === container.image) return true
  if (!container.running || !container.ready) return false
  if (container.containerId === undefined || container.containerId === before.containerId) return false
  const isOtherImage = container.imageId !== undefined && !baseline.some(({ imageId }) => imageId === container.imageId)
  // Under another tag of the same digest, the status may keep the name of the old one for good.
  const isSameImage = container.imageId === before.imageId && container.lastTerminatedId === before.containerId
  return runsImage(container, container.image) || isOtherImage || isSameImage
}
