import type { PodView } from '../pods/glossary.ts'
import type { Clock } from '../ports/clock.ts'

/** A pod that nobody has replaced for so long is taken for one that nobody will. */
const MISSED_FOR_MS = 30_000

/** Pods that are missed: one that is gone or was evicted, until another of its owner has come. */
export interface Vacancies {
  /** Takes a look at the pods that there are; gives those that are missed. */
  look(pods: Iterable<PodView>): PodView[]
  stop(): void
}

/** A pod that has gone, is going, or was evicted. */
interface Loss {
  pod: PodView
  /** Another of its owner has come since, or nobody will. */
  settled: boolean
  /** Since it is missed: until when. */
  until?: number
}

/**
 * Between the end of a pod and the start of the one in its place there is a moment in which no object stands for either.
 * Found by simulation: a window that counts objects lets another pod leave in it.
 */
export function createVacancies(options: {
  clock: Clock
  /** Something will take the place of this pod. */
  expectsHeir(pod: PodView): boolean
  /** What was missed is missed no more, by the time alone. */
  onExpired(): void
}): Vacancies {
  const { clock } = options
  let seen: ReadonlyMap<string, PodView> = new Map()
  let isFirst = true
  /** By uid, the oldest first. */
  const losses = new Map<string, Loss>()
  let timer: unknown

  /** Whoever comes takes the place of the one that was lost first, also of one that is still going. */
  function arrive({ owner }: PodView): void {
    const loss = [...losses.values()].find(({ pod, settled }) => !settled && pod.owner?.uid === owner?.uid)
    if (loss) loss.settled = true
  }

  function take(present: ReadonlyMap<string, PodView>): void {
    for (const [uid, before] of seen) {
      const pod = present.get(uid)
      if (losses.has(uid) || (pod && !pod.deleting && !pod.finished)) continue
      losses.set(uid, { pod: pod ?? before, settled: !before.owner })
    }
    for (const [uid, pod] of present) {
      const loss = losses.get(uid)
      if (loss) loss.pod = pod
      else if (isFirst) {
        // What was evicted before has been replaced by now.
        if (pod.finished && !pod.deleting) losses.set(uid, { pod, settled: true })
      } else if (!seen.has(uid)) arrive(pod)
    }
    for (const [uid, { settled }] of losses) if (settled && !present.has(uid)) losses.delete(uid)
    seen = present
    isFirst = false
  }

  return {
    look(pods) {
      take(new Map(Array.from(pods, (pod) => [pod.uid, pod])))
      const missed: PodView[] = []
      let until = Infinity
      for (const [uid, loss] of losses) {
        const { pod, settled } = loss
        // One that is being deleted still stands for itself.
        if (settled || (seen.has(uid) && pod.deleting)) continue
        loss.until ??= clock.now() + MISSED_FOR_MS
        loss.settled = loss.until <= clock.now() || !options.expectsHeir(pod)
        if (loss.settled) continue
        missed.push(pod)
        until = Math.min(until, loss.until)
      }
      clock.clearTimeout(timer)
      if (missed.length > 0) timer = clock.setTimeout(() => options.onExpired(), until - clock.now())
      return missed
    },
    stop: () => clock.clearTimeout(timer),
  }
}
