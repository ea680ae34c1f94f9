import type { KubeClient } from '../kube/client.ts'
import { isNotFound } from '../kube/errors.ts'
import type { Clock } from '../ports/clock.ts'

/** Tells whether a namespace is there, for the words about a Service that is not. */
export interface Namespaces {
  /**
   * Asks where the last answer is old. True where the last answer was that there is no such namespace, undefined where there was no answer
   * yet. A user who may not ask learns of no missing namespace.
   */
  isMissing(namespace: string): boolean | undefined
}

/** The time after which a namespace is asked for again. */
const AGAIN_AFTER_MS = 10_000

export function watchNamespaces(
  client: KubeClient,
  clock: Clock,
  signal: AbortSignal,
  onChange: (namespace: string) => void,
): Namespaces {
  const known = new Map<string, { isMissing: boolean | undefined; at: number }>()
  const waiting = new Map<string, unknown>()

  async function ask(namespace: string): Promise<void> {
    const before = known.get(namespace)?.isMissing
    known.set(namespace, { isMissing: before, at: clock.now() })
    let isMissing: boolean
    try {
      await client.get(`/api/v1/namespaces/${encodeURIComponent(namespace)}`, { signal })
      isMissing = false
    } catch (error) {
      // A user without the right does not learn it.
      isMissing = isNotFound(error)
    }
    known.set(namespace, { isMissing, at: clock.now() })
    // Nothing else tells that a namespace was made.
    if (isMissing) againLater(namespace)
    if (isMissing !== before && !signal.aborted) onChange(namespace)
  }

  function againLater(namespace: string): void {
    clock.clearTimeout(waiting.get(namespace))
    if (!signal.aborted)
      waiting.set(
        namespace,
        clock.setTimeout(() => void ask(namespace), AGAIN_AFTER_MS),
      )
  }

  signal.addEventListener('abort', () => {
    for (const timer of waiting.values()) clock.clearTimeout(timer)
  })
  return {
    isMissing(namespace) {
      const last = known.get(namespace)
      if (last === undefined || clock.now() - last.at >= AGAIN_AFTER_MS) void ask(namespace)
      return known.get(namespace)?.isMissing
    },
  }
}
