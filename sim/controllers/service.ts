import type { KubeObject } from '../api-server/server.ts'
import type { Pod } from '../kubelet/pod.ts'

/** The fields of a Service that the controllers of endpoints read. */
export interface Service extends KubeObject {
  spec: {
    clusterIP?: string
    selector?: Record<string, string>
    publishNotReadyAddresses?: boolean
    ports?: { name?: string; port: number; targetPort?: number | string; protocol?: string }[]
  }
}

export function selects({ spec }: Service, pod: Pod): boolean {
  const labels = pod.metadata.labels ?? {}
  return spec.selector !== undefined && Object.entries(spec.selector).every(([name, value]) => labels[name] === value)
}
