import type { KubeClient } from '../../kube/client.ts'

/** The same client for one look, in which nothing is asked for twice: several parts of an explanation list the same pods. */
export function sharedReads(client: KubeClient): KubeClient {
  const asked = new Map<string, Promise<unknown>>()
  return {
    ...client,
    get(path, options) {
      const answer = asked.get(path) ?? client.get(path, options)
      asked.set(path, answer)
      return answer
    },
  }
}
