import type { KubeClient } from '../../kube/client.ts'
import { isNotFound, KubeError } from '../../kube/errors.ts'
import { isNewerVersion } from '../../kube/resource-version.ts'
import type { PodView } from '../../pods/glossary.ts'
import { podView } from '../../pods/view.ts'
import type { Clock } from '../../ports/clock.ts'
import { podsPath } from '../../observation/pod-store.ts'
import type { Candidates } from './candidates.ts'

/** What an answer has told of a pod is not asked for again for so long. */
const ANSWER_HOLDS_MS = 1_000

/**
 * `known`: as it is observed, by now; `news`: its watch has not told that, and may be silent; `putOff`: it will be told later (429); `silent`:
 * nobody has answered; `unknown`: the API server does not tell.
 */
export type AskedFor = 'known' | 'news' | 'gone' | 'putOff' | 'silent' | 'unknown'

/** Asks the API server for one pod, where what is observed of it is not to be relied on. What the answer tells is observed by then. */
export interface Asking {
  /** Waits so long for an answer. */
  pod(pod: Pick<PodView, 'uid' | 'name'>, answeredWithinMs: number): Promise<AskedFor>
  /** An answer has told of it, to what was asked then. */
  answered(uid: string, askedAt: number): void
}

export interface AskingOptions {
  client: KubeClient
  clock: Clock
  namespace: string
  candidates: Candidates
}

/**
 * By one GET, and no list: found by a reviewer, an API server put off all lists for minutes, and who gave up its watches for one saw
 * nothing any more.
 */
export function createAsking({ client, clock, namespace, candidates }: AskingOptions): Asking {
  /** What was answered last, by uid: an answer may be long on its way. */
  const lastAskedAt = new Map<string, number>()
  const answered = (uid: string, askedAt: number): void => void lastAskedAt.set(uid, askedAt)

  return {
    answered,
    async pod({ uid, name }, answeredWithinMs) {
      const askedAt = clock.now()
      if (askedAt - (lastAskedAt.get(uid) ?? Number.NEGATIVE_INFINITY) <= ANSWER_HOLDS_MS) return 'known'
      const known = candidates.all().find(({ pod }) => pod.uid === uid)?.pod
      try {
        const raw = await client.get(podsPath(namespace, name), { deadlineMs: answeredWithinMs, once: true })
        const seen = podView(raw)
        // The name may be another pod's by now.
        if (seen.uid !== uid) return 'gone'
        answered(uid, askedAt)
        candidates.announce(uid, raw)
        const isNews = known === undefined || isNewerVersion(seen.resourceVersion, known.resourceVersion)
        return isNews && !candidates.isHeard(uid) ? 'news' : 'known'
      } catch (error) {
        if (isNotFound(error)) return 'gone'
        const status = error instanceof KubeError ? error.status : 0
        if (status === 429) return 'putOff'
        return status === undefined ? 'silent' : 'unknown'
      }
    },
  }
}
