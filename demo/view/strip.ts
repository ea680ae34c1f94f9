import type { ActResult } from '../acts/result.ts'

/** The state in one slice of time: a pod in or out of rotation, or a `silent` node. `failed` takes precedence. */
export type Slice = 'in' | 'out' | 'failed' | 'silent' | 'nothing'

export interface Strip {
  label: string
  slices: Slice[]
}

/** With this length, an act of half a minute fits on a line of 80 columns. */
export const SLICE_MS = 500

/** Returns the picture of an act: a strip for each pod, one for requests without a pod, and one for a late heartbeat. */
export function stripsOf({ pods, startedAt, endedAt, failures, changes, silences }: ActResult): Strip[] {
  const starts = Array.from({ length: Math.ceil((endedAt - startedAt) / SLICE_MS) }, (_, index) => startedAt + index * SLICE_MS)
  const within = (at: number, start: number): boolean => at >= start && at < start + SLICE_MS
  const hasFailed = (pod: string | undefined, start: number): boolean =>
    failures.some((failure) => failure.pod === pod && within(failure.at, start))

  const strips: Strip[] = pods.map((pod) => {
    const own = changes.filter((change) => change.pod === pod)
    const isIn = (at: number): boolean => own.findLast((change) => change.at <= at)?.isIn ?? true
    return {
      label: pod,
      // A change in the middle of a slice counts for all of it, so that a short change is visible.
      slices: starts.map((start) => {
        if (hasFailed(pod, start)) return 'failed'
        return isIn(start) && !own.some((change) => !change.isIn && within(change.at, start)) ? 'in' : 'out'
      }),
    }
  })
  if (failures.some(({ pod }) => pod === undefined)) {
    strips.push({ label: 'no pod', slices: starts.map((start) => (hasFailed(undefined, start) ? 'failed' : 'nothing')) })
  }
  if (silences.length > 0) {
    const isSilent = (start: number): boolean => silences.some(({ from, to = endedAt }) => from < start + SLICE_MS && to > start)
    strips.push({ label: 'node', slices: starts.map((start) => (isSilent(start) ? 'silent' : 'nothing')) })
  }
  return strips
}
