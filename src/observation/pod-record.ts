import { field } from '../kube/json.ts'
import type { PodView } from '../pods/glossary.ts'
import { podView } from '../pods/view.ts'

/** A pod in a feed: with its labels, by which a view selects among the pods of a namespace. */
export interface PodRecord extends PodView {
  labels: Readonly<Record<string, string>>
}

const NO_LABELS = {}

/** @throws z.ZodError if the object is no Pod */
export function podRecord(raw: unknown): PodRecord {
  const pod = podView(raw)
  // `podView` has checked the types.
  const labels = field(field(raw, 'metadata'), 'labels') as Record<string, string> | null | undefined
  return Object.assign(pod, { labels: labels ?? NO_LABELS })
}

export function podsPath(namespace: string, name?: string): string {
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods${name === undefined ? '' : `/${encodeURIComponent(name)}`}`
}

/** The pods of a run: as a query for the API server, and as a filter for a view of all pods of a namespace. */
export interface PodSelection {
  labelSelector?: string
  fieldSelector?: string
  /** The filter. Absent if a user has written the selectors; then only the API server interprets them. */
  selects?: (pod: Pick<PodRecord, 'name' | 'labels'>) => boolean
}

/** The observed pods that a view of pods is built on. */
export interface PodSource {
  all(): Iterable<PodView>
  get(uid: string): PodView | undefined
  /** Applies an answer of the API server; returns the newest known version of that pod. */
  observe(raw: unknown): PodView
  /** Applies an answer as `observe` does, and calls `onChange` if the version is new. For reads that check on a silent watch. */
  announce(raw: unknown): PodView
  /** True if a watch has just delivered a line, and so is expected to deliver later changes soon. */
  isHeard(): boolean
  isCurrent(): boolean
  isBroken(): boolean
  refresh(): Promise<void>
  stop(): Promise<void>
}

/** The callbacks of a view of pods. */
export interface PodSourceUser {
  onChange(uid: string): void
  onGone(uid: string): void
  /** Called for a pod that exists but is no longer selected, and that the run continues with. */
  onUnselected(pod: PodView): void
  /** True if a pod that is no longer selected is kept while it exists; false while the run can still leave it out. */
  keepsUnselected(): boolean
  /** The newest version of the pod that the view has, which may come from an answer that is newer than the watch. */
  newest(uid: string): PodView | undefined
  onSight(): void
  isAwaited(): boolean
  onError(error: Error, lasting: boolean): void
}
