import type { KubeClient } from './client.ts'

/** The same client, which asks for each path once: whatever needs a list gets the one that was read first. Writes and watches go through. */
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
