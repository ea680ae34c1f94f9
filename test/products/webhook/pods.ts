import type { ControlPlane, Json } from '../endpoints/control-plane.ts'

const CONTAINERS = [{ name: 'app', image: 'app:v1', ports: [{ containerPort: 8080 }] }]

/** Services and pods of one namespace, with the status that a kubelet writes. */
export interface Pods {
  makeService(name: string, annotations?: Record<string, string>): Promise<void>
  makePod(service: string, place: number, labels?: Record<string, string>): Promise<string>
  setReady(pod: string, isReady: boolean, at?: string): Promise<void>
  /** The endpoints of the Service that are ready, serving or there at all, in both kinds; `count` of all entries. */
  endpoints(service: string): Promise<{ slices: Record<string, Json>; endpoints: { ready: string[]; notReady: string[] } }>
}

export function podsOf({ ask }: Pick<ControlPlane, 'ask'>, namespace: string, subnet: string): Pods {
  const at = (of: string, name = ''): string => `/api/v1/namespaces/${namespace}/${of}${name === '' ? '' : `/${name}`}`
  async function setReady(pod: string, isReady: boolean, since = new Date().toISOString(), more: Json = {}): Promise<void> {
    const status = isReady ? 'True' : 'False'
    const conditions = ['ContainersReady', 'Ready'].map((type) => ({ type, status, lastTransitionTime: since }))
    const app = { name: 'app', ready: isReady, restartCount: 0, image: 'app:v1', imageID: 'sha256:1', containerID: 'c://1' }
    await ask('PATCH', `${at('pods', pod)}/status?fieldManager=kubelet`, {
      status: { ...more, conditions, containerStatuses: [{ ...app, state: { running: { startedAt: since } } }] },
    })
  }
  let made = 0
  return {
    async makeService(name, annotations = {}) {
      const ports = [{ name: 'http', port: 80, targetPort: 8080 }]
      await ask('POST', at('services'), { metadata: { name, annotations }, spec: { selector: { app: name }, ports } })
    },
    async makePod(service, place, labels = {}) {
      const name = `${service}-${place}`
      const index = made++
      const ip = `${subnet}.${Math.floor(index / 250)}.${(index % 250) + 1}`
      await ask('POST', at('pods'), {
        metadata: { name, labels: { app: service, ...labels } },
        spec: { nodeName: 'node-a', containers: CONTAINERS },
      })
      const since = new Date().toISOString()
      await setReady(name, true, since, { phase: 'Running', podIP: ip, podIPs: [{ ip }], startTime: since })
      return ip
    },
    setReady: (pod, isReady, since) => setReady(pod, isReady, since),
    async endpoints(service) {
      const selector = `?labelSelector=kubernetes.io/service-name%3D${service}`
      const list = await ask('GET', `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices${selector}`)
      const slices: Record<string, Json> = {}
      for (const slice of list.items)
        for (const one of slice.endpoints ?? []) slices[one.targetRef?.name ?? one.addresses[0]] = one.conditions
      const found = (await ask('GET', at('endpoints', service)).catch(() => undefined)) as Json
      const names = (key: string): string[] =>
        ((found?.subsets ?? []) as Json[])
          .flatMap((subset) => (subset[key] ?? []).map((one: Json) => one.targetRef?.name))
          .toSorted()
      return { slices, endpoints: { ready: names('addresses'), notReady: names('notReadyAddresses') } }
    },
  }
}
