import type { Cluster } from '../cluster/cluster.ts'
import { type KubeObject, pathOf } from '../cluster/kube-api.ts'
import { namespace } from '../cluster/manifests.ts'
import { versionFacts } from '../cluster/version-facts.ts'
import { removeNamespace } from '../cluster/workloads.ts'
import type { Bed, Scenario } from './bed.ts'
import { type Trace, createTraceRecorder } from './trace.ts'

const UNTIL_MS = 90_000

/** Plays a scenario on a real cluster, in a namespace that is gone afterwards. */
export async function playReal(cluster: Cluster, scenario: Scenario, name: string): Promise<Trace> {
  const { api } = cluster
  const recorder = createTraceRecorder(versionFacts(cluster.info.kubernetes))
  await api.apply(namespace(name))
  const abort = new AbortController()
  const latest = new Map<string, KubeObject>()
  const onChange = new Set<() => void>()

  async function watch(kind: string, see: (type: 'ADDED' | 'MODIFIED' | 'DELETED', object: KubeObject) => void): Promise<void> {
    const path = pathOf(kind, name)
    const seen = ({ type, object }: { type: string; object: KubeObject }): void => {
      if (type !== 'ADDED' && type !== 'MODIFIED' && type !== 'DELETED') return
      const key = `${kind} ${object.metadata.name}`
      if (type === 'DELETED') latest.delete(key)
      else latest.set(key, object)
      see(type, object)
      for (const look of onChange) look()
    }
    const { metadata, items } = await api.request('GET', path)
    for (const object of items) seen({ type: 'ADDED', object })
    api
      .watch(`${path}?watch=1&resourceVersion=${metadata.resourceVersion}`, seen, abort.signal)
      .catch((error) => broken.push(error))
  }
  const broken: Error[] = []

  const workload = (type: string, object: KubeObject): void => {
    if (type !== 'DELETED') recorder.workload(object)
  }
  await Promise.all([
    watch('Pod', recorder.pod),
    watch('EndpointSlice', (type, slice) => recorder.endpointSlice(type === 'DELETED' ? undefined : slice)),
    watch('StatefulSet', workload),
    watch('DaemonSet', workload),
    watch('Deployment', () => {}),
    ...(scenario.alone ? [watch('Node', (_type, node) => recorder.node(node))] : []),
  ])

  const bed: Bed = {
    namespace: name,
    async apply(...objects) {
      await api.apply(...objects)
    },
    patch: (kind, object, operations, subresource) => api.patch(kind, object, name, operations, 'json', subresource),
    get: (kind, object) => api.get(kind, object, name),
    list: (kind) => api.list(kind, name),
    remove: (kind, object, { force } = {}) => api.delete(kind, object, name, force ? { gracePeriodSeconds: 0 } : {}),
    crash: (pod, container) => cluster.killContainer(name, pod, container),
    killSandbox: (pod) => cluster.killSandbox(name, pod),
    kubelet: cluster.kubelet,
    async nodeIsReady() {
      const { status } = await api.get('Node', cluster.info.nodeName ?? '')
      return status.conditions.some((one: KubeObject) => one.type === 'Ready' && one.status === 'True')
    },
    until(kind, object, condition) {
      const key = `${kind} ${object}`
      return new Promise((resolve, reject) => {
        const look = (): void => {
          if (!condition(latest.get(key))) return
          clearTimeout(timer)
          onChange.delete(look)
          resolve()
        }
        const timer = setTimeout(() => {
          onChange.delete(look)
          reject(
            new Error(
              `waited ${UNTIL_MS} ms in vain for ${key}: ${condition}; ${JSON.stringify(recorder.trace(), undefined, 1)}`,
            ),
          )
        }, UNTIL_MS)
        onChange.add(look)
        look()
      })
    },
    pass: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    async begin() {
      recorder.begin()
    },
  }
  try {
    await scenario.play(bed)
    if (broken.length > 0) throw new AggregateError(broken, `a watch of ${scenario.name} broke`)
    return recorder.trace()
  } finally {
    abort.abort()
    await removeNamespace(api, name)
  }
}
