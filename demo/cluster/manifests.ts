import type { Manifest } from '../../sim/cluster.ts'

export const NAMESPACE = 'demo'
export const WORKLOAD = 'web'
export const CONTAINER = 'app'

/** Returns `registry.example/app:v1`, v2, … */
export function imageOf(version: number): string {
  return `registry.example/app:v${version}`
}

/**
 * Returns the workload that the demo upgrades, and the Service over its pods. `stopSeconds`: a container runs on for so long before it
 * is told to end.
 */
export function manifests(pods: number, port: number, stopSeconds = 0): Manifest[] {
  const metadata = { name: WORKLOAD, namespace: NAMESPACE }
  const labels = { app: WORKLOAD }
  const container = {
    name: CONTAINER,
    image: imageOf(1),
    ports: [{ name: 'http', containerPort: port }],
    readinessProbe: { httpGet: { path: '/', port }, periodSeconds: 1, failureThreshold: 1 },
    ...(stopSeconds === 0 ? {} : { lifecycle: { preStop: { sleep: { seconds: stopSeconds } } } }),
  }
  return [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata,
      spec: { clusterIP: 'None', ipFamilies: ['IPv4'], selector: labels, ports: [{ name: 'http', port: 80, targetPort: port }] },
    },
    {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata,
      spec: {
        replicas: pods,
        serviceName: WORKLOAD,
        podManagementPolicy: 'Parallel',
        updateStrategy: { type: 'OnDelete' },
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [container] } },
      },
    },
  ]
}
