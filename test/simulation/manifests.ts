import type { NewObject } from '../../sim/api-server/server.ts'
import type { Scene } from './scene.ts'

export const NAMESPACE = 'default'
export const NAME = 'web'
export const PORT = 8080
const LABELS = { app: NAME }

/** Names an image of the application: `v1`, `v2`, …; `v1-again` has the digest of v1, `bad` does not exist, `crash` ends at once. */
export function imageOf(tag: string): string {
  return `registry.example/app:${tag}`
}

/** Names an image of the sidecar, which has the same tags. */
export function proxyOf(tag: string): string {
  return `registry.example/proxy:${tag}`
}

/** Returns the workload of a scene, its pods where no controller makes them, and its Service if it has one. */
export function manifestsOf(scene: Scene): { resource: string; object: NewObject }[] {
  const meta = { name: NAME, namespace: NAMESPACE, labels: LABELS }
  const template = { metadata: { labels: LABELS }, spec: podSpec(scene) }
  const selector = { matchLabels: LABELS }
  const apps = { apiVersion: 'apps/v1' }
  const onDelete = { type: 'OnDelete' }
  const service = {
    resource: 'services',
    object: {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: meta,
      spec: { selector: LABELS, ports: [{ port: 80, targetPort: PORT }] },
    },
  }
  const all = scene.service ? [service] : []
  switch (scene.workload) {
    case 'StatefulSet': {
      const spec = {
        replicas: scene.pods,
        serviceName: NAME,
        podManagementPolicy: 'Parallel',
        updateStrategy: onDelete,
        selector,
        template,
      }
      return [...all, { resource: 'statefulsets.apps', object: { ...apps, kind: 'StatefulSet', metadata: meta, spec } }]
    }
    case 'DaemonSet': {
      const spec = { updateStrategy: onDelete, selector, template }
      return [...all, { resource: 'daemonsets.apps', object: { ...apps, kind: 'DaemonSet', metadata: meta, spec } }]
    }
    case 'Deployment': {
      const spec = { replicas: scene.pods, selector, template }
      return [...all, { resource: 'deployments.apps', object: { ...apps, kind: 'Deployment', metadata: meta, spec } }]
    }
    default:
      return [
        ...all,
        ...Array.from({ length: scene.pods }, (_, place) => ({
          resource: 'pods',
          object: {
            apiVersion: 'v1',
            kind: 'Pod',
            metadata: { name: `${NAME}-${place}`, namespace: NAMESPACE, labels: LABELS },
            spec: podSpec(scene),
          },
        })),
      ]
  }
}

function podSpec({ hostNetwork, probe, sidecar, graceSeconds, preStopMs }: Scene): Record<string, unknown> {
  const app = {
    name: 'app',
    image: imageOf('v1'),
    ports: [{ name: 'http', containerPort: PORT }],
    ...(probe ? { readinessProbe: { httpGet: { path: '/ready', port: PORT }, periodSeconds: 1 } } : {}),
    ...(preStopMs > 0 ? { lifecycle: { preStop: { sleep: { seconds: preStopMs / 1_000 } } } } : {}),
  }
  return {
    // The sidecar is first in the spec, and last in the statuses, which are sorted by name.
    containers: sidecar ? [{ name: 'proxy', image: proxyOf('v1') }, app] : [app],
    terminationGracePeriodSeconds: graceSeconds,
    restartPolicy: 'Always',
    ...(hostNetwork ? { hostNetwork: true } : {}),
  }
}
