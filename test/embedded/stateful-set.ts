/** The manifest of a StatefulSet in the embedded cluster, whose pods sluice upgrades. */

/** Returns a container `app`, which listens on this port. */
export function appContainer(port: number, image = 'app:v1') {
  return { name: 'app', image, ports: [{ containerPort: port }], readinessProbe: { periodSeconds: 1 } }
}

/** Returns a StatefulSet whose name is also the label `app`. With `OnDelete`, only sluice gives a pod a new image. */
export function statefulSet(name: string, replicas: number, containers: readonly object[] = [appContainer(80)]) {
  const labels = { app: name }
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name },
    spec: {
      replicas,
      serviceName: name,
      podManagementPolicy: 'Parallel',
      updateStrategy: { type: 'OnDelete' },
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { terminationGracePeriodSeconds: 0, containers } },
    },
  }
}
