import type { KubeClient } from './client.ts'

/** A client that reads each path once: later reads get the first answer. Writes and watches are passed on. */
export function readOnce(client: KubeClient): KubeClient {
  const answers = new Map<string, Promise<unknown>>()
  return {
    ...client,
    get(path, options) {
      const answer = answers.get(path) ?? client.get(path, options)
      answers.set(path, answer)
      return answer
    },
  }
}
