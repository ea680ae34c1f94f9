import type { Node, Pod, Service } from '../objects.ts'

type Given<One> = Partial<One>

/** A Service with the selector `app: web`, and the defaults that the API server sets. */
export function service(spec: Given<Service['spec']> = {}, metadata: Given<Service['metadata']> = {}): Service {
  return {
    metadata: { name: 'web', namespace: 'shop', uid: 'uid-of-service', ...metadata },
    spec: {
      type: 'ClusterIP',
      clusterIP: '10.96.0.7',
      ipFamilies: ['IPv4'],
      selector: { app: 'web' },
      ports: [{ name: 'http', port: 80, protocol: 'TCP', targetPort: 'http' }],
      ...spec,
    },
  }
}

interface PodParts {
  metadata?: Given<Pod['metadata']>
  spec?: Given<Pod['spec']>
  status?: Given<NonNullable<Pod['status']>>
}

/** A pod that runs on `node-1` and is Ready. */
export function pod({ metadata, spec, status }: PodParts = {}): Pod {
  return {
    metadata: { name: 'web-0', namespace: 'shop', uid: 'uid-of-web-0', labels: { app: 'web' }, ...metadata },
    spec: {
      nodeName: 'node-1',
      restartPolicy: 'Always',
      containers: [{ name: 'app', ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }] }],
      ...spec,
    },
    status: {
      phase: 'Running',
      podIP: '10.0.0.1',
      podIPs: [{ ip: '10.0.0.1' }],
      conditions: [
        { type: 'ContainersReady', status: 'True' },
        { type: 'Ready', status: 'True' },
      ],
      containerStatuses: [{ name: 'app', ready: true }],
      ...status,
    },
  }
}

export const nodes: Node[] = [{ metadata: { name: 'node-1', labels: { 'topology.kubernetes.io/zone': 'zone-1' } } }]
