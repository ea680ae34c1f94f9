import type { KubeClient } from '../kube/client.ts'

/** The same client, which asks for each path once: whatever needs a list gets the one that was read first. Writes and watches go through. */
export function readOnce(client: KubeClient): KubeClient {
  const answers = new Map<string, Promise<unknown>>()
  return {
    get(path, options) {
      const known = answers.get(path)
      if (known !== undefined) return known
      const asked = client.get(path, options)
      answers.set(path, asked)
      return asked
    },
    create: (path, body, options) => client.create(path, body, options),
    replace: (path, body, options) => client.replace(path, body, options),
    patch: (path, operations, options) => client.patch(path, operations, options),
    delete: (path, options) => client.delete(path, options),
    watch: (path, options) => client.watch(path, options),
  }
}
