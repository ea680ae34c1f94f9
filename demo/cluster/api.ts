import { NAMESPACE } from './manifests.ts'

/** The facts about a pod that a script reads. */
export interface PodView {
  image: string
  /** Empty where the pod has none yet. */
  containerId: string
  isReady: boolean
}

/** The API server as a script uses it. The script knows only pods and Ready. */
export interface Api {
  read(pod: string): Promise<PodView>
  patchImage(pod: string, image: string): Promise<void>
}

interface Pod {
  spec: { containers: { image: string }[] }
  status?: { containerStatuses?: { containerID?: string }[]; conditions?: { type: string; status: string }[] }
}

export function createApi(url: string): Api {
  async function call(method: 'GET' | 'PATCH', pod: string, body?: unknown): Promise<Pod> {
    const answer = await fetch(`${url}/api/v1/namespaces/${NAMESPACE}/pods/${pod}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json-patch+json' } }),
    })
    if (!answer.ok) throw new Error(`demo: ${method} ${pod}: ${answer.status} ${await answer.text()}`)
    return (await answer.json()) as Pod
  }

  return {
    async read(pod) {
      const { spec, status } = await call('GET', pod)
      return {
        image: spec.containers[0]!.image,
        containerId: status?.containerStatuses?.[0]?.containerID ?? '',
        isReady: status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') ?? false,
      }
    },
    async patchImage(pod, image) {
      await call('PATCH', pod, [{ op: 'replace', path: '/spec/containers/0/image', value: image }])
    },
  }
}
