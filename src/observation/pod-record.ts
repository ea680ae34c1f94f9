import { field } from '../kube/json.ts'
import type { PodView } from '../pods/glossary.ts'
import { podView } from '../pods/view.ts'

/** A pod as a feed keeps it: with its labels, by which a view selects among those of a namespace. */
export interface PodRecord extends PodView {
  labels: Readonly<Record<string, string>>
}

const NO_LABELS = {}

/** @throws z.ZodError where it is no Pod */
export function podRecord(raw: unknown): PodRecord {
  const pod = podView(raw)
  // Their types are what `podView` has checked.
  const labels = field(field(raw, 'metadata'), 'labels') as Record<string, string> | null | undefined
  return Object.assign(pod, { labels: labels ?? NO_LABELS })
}

export function podsPath(namespace: string, name?: string): string {
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods${name === undefined ? '' : `/${encodeURIComponent(name)}`}`
}

/** The pods that a run asks for: as the API server selects them, and as a view does among all pods of a namespace. */
export interface PodSelection {
  labelSelector?: string
  fieldSelector?: string
  /** Absent where the selectors are a user's own words: then the API server alone reads them. */
  selects?: (pod: Pick<PodRecord, 'name' | 'labels'>) => boolean
}

/** What a view of pods rests on: some pods, as last observed. */
export interface PodSource {
  all(): Iterable<PodView>
  get(uid: string): PodView | undefined
  /** Takes in an answer of the API server; gives the newest that is known of that pod. */
  observe(raw: unknown): PodView
  /** The same for a look that was meant to tell what the watch has not: `onChange` is called where it is news. */
  announce(raw: unknown): PodView
  /** A watch has brought a line just now: what it has not told yet it will tell soon. */
  isHeard(): boolean
  isCurrent(): boolean
  isBroken(): boolean
  refresh(): Promise<void>
  stop(): Promise<void>
}

/** What a view of pods is told of them. */
export interface PodSourceUser {
  onChange(uid: string): void
  onGone(uid: string): void
  /** A pod that the run goes on with is no longer selected, and is there. */
  onUnselected(pod: PodView): void
  /** A pod that is no longer selected is kept for as long as it is there; false while it can still be left out. */
  keepsUnselected(): boolean
  /** Is `known` what an answer has told of a pod since? The newest that the view has. */
  newest(uid: string): PodView | undefined
  onSight(): void
  isAwaited(): boolean
  onError(error: Error, lasting: boolean): void
}
