import type { KubeClient } from '../../kube/client.ts'
import { isNotFound, KubeError } from '../../kube/errors.ts'
import { isNewerVersion } from '../../kube/resource-version.ts'
import type { PodView } from '../../pods/glossary.ts'
import { podView } from '../../pods/view.ts'
import type { Clock } from '../../ports/clock.ts'
import { podsPath } from '../../observation/pod-store.ts'
import type { Candidates } from './candidates.ts'

/** The time for which an answer about a pod is not asked for again. */
const ANSWER_HOLDS_MS = 1_000

/**
 * The result of a request. `known`: the observation has the answer by now. `news`: the watch has not told it, and may be silent. `putOff`:
 * the API server answered 429. `silent`: no answer came. `unknown`: the answer tells nothing about the pod.
 */
export type AskedFor = 'known' | 'news' | 'gone' | 'putOff' | 'silent' | 'unknown'

/** Asks the API server for one pod whose observation may be old. The answer is taken into the observation. */
export interface Asking {
  /** Asks for the pod, with a limit for the answer. */
  pod(pod: Pick<PodView, 'uid' | 'name'>, answeredWithinMs: number): Promise<AskedFor>
  /** Notes an answer about the pod, with the time of its request. */
  answered(uid: string, askedAt: number): void
}

export interface AskingOptions {
  client: KubeClient
  clock: Clock
  namespace: string
  candidates: Candidates
}

/** Asks by one GET, and not by a list: an API server under load can put off all lists for minutes. */
export function createAsking({ client, clock, namespace, candidates }: AskingOptions): Asking {
  /** The time of the last answered request, by uid. The answer itself may have taken long. */
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
        // Another pod may have the name now.
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
