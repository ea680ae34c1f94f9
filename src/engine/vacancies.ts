import type { PodView } from '../pods/glossary.ts'
import type { Clock } from '../ports/clock.ts'

/** A pod that nobody has replaced for so long is taken for one that nobody will. */
const MISSED_FOR_MS = 30_000

/** Pods that are missed: one that is gone, until another of its owner has come. */
export interface Vacancies {
  /** Takes a look at the pods that there are; gives those that are missed. */
  look(pods: Iterable<PodView>): PodView[]
  stop(): void
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
  let seen: Map<string, PodView> | undefined
  let missed: { pod: PodView; until: number }[] = []
  /** By owner: pods that came for one that was still going. */
  const early = new Map<string, number>()
  let timer: unknown

  function arrive({ owner }: PodView): void {
    const place = missed.findIndex(({ pod }) => pod.owner?.uid === owner?.uid)
    if (place !== -1) missed.splice(place, 1)
    else if (owner) early.set(owner.uid, (early.get(owner.uid) ?? 0) + 1)
  }

  function leave(pod: PodView): void {
    // One that was evicted is left behind by its owner, which has made another by then; one that is deleted ends so too.
    const isRemains = pod.finished && !pod.deleting
    if (!pod.owner || isRemains || !options.expectsHeir(pod)) return
    const came = early.get(pod.owner.uid) ?? 0
    if (came > 0) early.set(pod.owner.uid, came - 1)
    else missed.push({ pod, until: clock.now() + MISSED_FOR_MS })
  }

  return {
    look(pods) {
      const present = new Map(Array.from(pods, (pod) => [pod.uid, pod]))
      for (const [uid, pod] of seen ?? []) if (!present.has(uid)) leave(pod)
      if (seen) for (const [uid, pod] of present) if (!seen.has(uid)) arrive(pod)
      seen = present
      missed = missed.filter(({ until }) => until > clock.now())
      clock.clearTimeout(timer)
      if (missed.length > 0) timer = clock.setTimeout(() => options.onExpired(), missed[0]!.until - clock.now())
      return missed.map(({ pod }) => pod)
    },
    stop: () => clock.clearTimeout(timer),
  }
}
