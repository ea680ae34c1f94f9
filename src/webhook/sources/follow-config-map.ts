import { z } from 'zod'
import type { KubeClient } from '../../kube/client.ts'
import { openCollection } from '../../observation/collection.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Random } from '../../ports/random.ts'
import { type Follow, LARGEST_DOCUMENT_BYTES, type Look } from './look.ts'

export interface FollowConfigMapOptions {
  client: KubeClient
  clock: Clock
  random: Random
  namespace: string
  name: string
  key: string
  /** The time after which a watch without news is taken as another look. */
  everyMs: number
}

const configMap = z.object({
  metadata: z.object({ uid: z.string(), name: z.string(), namespace: z.string(), resourceVersion: z.string() }),
  data: z.record(z.string(), z.string()).nullish(),
  binaryData: z.record(z.string(), z.string()).nullish(),
})

/** Follows a key of one ConfigMap by a watch of that object alone, so that the rights may name it. */
export function followConfigMap({ namespace, name, key, everyMs, clock, ...access }: FollowConfigMapOptions): Follow {
  function decode(raw: unknown) {
    const { metadata, data, binaryData } = configMap.parse(raw)
    const { uid, resourceVersion } = metadata
    const [text, encoded] = [data?.[key], binaryData?.[key]]
    const bytes = text !== undefined ? Buffer.from(text) : encoded !== undefined ? Buffer.from(encoded, 'base64') : undefined
    return { uid, name: metadata.name, namespace: metadata.namespace, resourceVersion, bytes }
  }

  return async (onLook, signal) => {
    let told: Uint8Array | undefined
    let timer: unknown

    function look(): Look | undefined {
      const state = collection.state()
      if (state.is === 'listing') return undefined
      if ('because' in state) {
        const code = state.is === 'broken' ? 'no-answer' : 'api-refused'
        return { is: 'away', fault: { code, said: state.because.message } }
      }
      // A break that has just begun is no state yet, and its records confirm nothing.
      if (!collection.isCurrent()) return undefined
      const [found] = collection.records().values()
      if (found === undefined) return { is: 'missing', lacks: 'config-map' }
      if (found.bytes === undefined) return { is: 'missing', lacks: 'key' }
      if (found.bytes.length > LARGEST_DOCUMENT_BYTES) return { is: 'too-large', limitBytes: LARGEST_DOCUMENT_BYTES }
      return { is: 'document', bytes: found.bytes }
    }

    function tell(): void {
      clock.clearTimeout(timer)
      if (signal.aborted) return
      timer = clock.setTimeout(tell, everyMs)
      const now = look()
      if (now === undefined) return
      if (now.is !== 'document') return onLook(now)
      if (now.bytes === told) return onLook({ is: 'unchanged' })
      told = now.bytes
      onLook(now)
    }

    const collection = openCollection({
      ...access,
      clock,
      path: `/api/v1/namespaces/${namespace}/configmaps`,
      fieldSelector: `metadata.name=${name}`,
      decode,
      // The records change after the event.
      onEvent: () => queueMicrotask(tell),
      onState: () => queueMicrotask(tell),
      signal,
    })
    tell()
    await collection.ended
    clock.clearTimeout(timer)
  }
}
