import type { KubeApi, KubeObject, WaitOptions } from './kube-api.ts'

/** Waits until `count` pods with the label app=NAME are Ready, and none of them is going away. The pods are sorted by name. */
export function waitForPods(
  api: KubeApi,
  namespace: string,
  app: string,
  count: number,
  options?: WaitOptions,
): Promise<KubeObject[]> {
  return api.waitFor(
    `${count} ready pods of ${namespace}/${app}`,
    () => api.list('Pod', namespace, `app=${app}`),
    (pods) => {
      const ready = pods.filter((pod) => isReady(pod) && pod.metadata.deletionTimestamp === undefined)
      return (
        ready.length === count && pods.length === count && ready.sort((a, b) => a.metadata.name.localeCompare(b.metadata.name))
      )
    },
    { timeoutMs: 60_000, ...options },
  )
}

export function isReady(pod: KubeObject): boolean {
  const conditions = (pod.status?.conditions ?? []) as { type: string; status: string }[]
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True')
}

/** Deletes a namespace, and returns after its pods are gone, so that the next test has the node to itself. */
export async function removeNamespace(api: KubeApi, name: string): Promise<void> {
  for (const kind of ['StatefulSet', 'DaemonSet', 'Deployment']) {
    for (const owner of await api.list(kind, name)) {
      await api.delete(kind, owner.metadata.name, name, { propagationPolicy: 'Background' })
    }
  }
  await api.waitFor(
    `the end of the pods in ${name}`,
    async () => {
      const pods = await api.list('Pod', name)
      const stay = pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      await Promise.all(stay.map(({ metadata }) => api.delete('Pod', metadata.name, name, { gracePeriodSeconds: 1 })))
      return pods.map(({ metadata }) => metadata.name)
    },
    (pods) => pods.length === 0,
    { timeoutMs: 60_000, intervalMs: 200 },
  )
  // The rest of the namespace disappears in the background, seconds later.
  await api.delete('Namespace', name)
}
