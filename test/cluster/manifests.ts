import type { KubeObject } from './kube-api.ts'

/** The options of a test's pod. The application is the same everywhere. */
export interface PodOptions {
  name: string
  namespace?: string
  /** localhost/app:v1, :v2, :v3, :v2-again (the digest of v2), :crash; :bad does not exist. */
  image?: string
  /** The seconds from the start of the container until it is ready; 0 by default. */
  readyAfter?: number
  /** False for no readiness probe: the kubelet reports Ready as soon as the container runs. */
  probe?: boolean
  /** False where / answers 200 even before the application is ready. */
  refuseUntilReady?: boolean
  /** True where the application finishes its requests on SIGTERM. By default it dies at once. */
  graceful?: boolean
  /** The seconds of sleep in a preStop hook. They count towards the grace period. */
  preStopSeconds?: number
  terminationGracePeriodSeconds?: number
  hostNetwork?: boolean
  port?: number
  /** The image of a second container, which listens on `sidecarPort`. */
  sidecar?: string
  sidecarPort?: number
  labels?: Record<string, string>
  annotations?: Record<string, string>
  env?: Record<string, string>
  readinessGates?: string[]
}

export interface StatefulSetOptions extends PodOptions {
  replicas?: number
  updateStrategy?: 'OnDelete' | 'RollingUpdate'
  /** Parallel by default, for all pods at once. OrderedReady waits for each pod. */
  podManagementPolicy?: 'Parallel' | 'OrderedReady'
}

export interface DaemonSetOptions extends PodOptions {
  updateStrategy?: 'OnDelete' | 'RollingUpdate'
}

export interface DeploymentOptions extends PodOptions {
  replicas?: number
}

export const appPort = 8080

export function namespace(name: string): KubeObject {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }
}

export function statefulSet(options: StatefulSetOptions): KubeObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: metadataOf(options),
    spec: {
      replicas: options.replicas ?? 3,
      serviceName: options.name,
      podManagementPolicy: options.podManagementPolicy ?? 'Parallel',
      updateStrategy: { type: options.updateStrategy ?? 'OnDelete' },
      selector: { matchLabels: { app: options.name } },
      template: podTemplate(options),
    },
  }
}

export function daemonSet(options: DaemonSetOptions): KubeObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: metadataOf(options),
    spec: {
      updateStrategy: { type: options.updateStrategy ?? 'OnDelete' },
      selector: { matchLabels: { app: options.name } },
      template: podTemplate(options),
    },
  }
}

export function deployment(options: DeploymentOptions): KubeObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: metadataOf(options),
    spec: {
      replicas: options.replicas ?? 3,
      selector: { matchLabels: { app: options.name } },
      template: podTemplate(options),
    },
  }
}

/** Returns a pod without an owner. */
export function pod(options: PodOptions): KubeObject {
  const { metadata, spec } = podTemplate(options)
  return { apiVersion: 'v1', kind: 'Pod', metadata: { ...metadataOf(options), ...metadata }, spec }
}

/** Returns a Service over the pods of `name`, which gives them EndpointSlices. */
export function service(options: { name: string; namespace?: string; port?: number }): KubeObject {
  const port = options.port ?? appPort
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: metadataOf(options),
    spec: { clusterIP: 'None', selector: { app: options.name }, ports: [{ name: 'http', port, targetPort: port }] },
  }
}

export function podTemplate(options: PodOptions): { metadata: KubeObject; spec: KubeObject } {
  const port = options.port ?? appPort
  const containers = [container({ ...options, name: 'app', image: options.image ?? 'localhost/app:v1', port })]
  if (options.sidecar !== undefined) {
    // The sidecar shares the address of the pod, so it needs a port of its own. It is ready at once.
    const sidecarPort = options.sidecarPort ?? port + 1
    containers.push(container({ ...options, name: 'sidecar', image: options.sidecar, port: sidecarPort, readyAfter: 0 }))
  }
  return {
    metadata: {
      labels: { app: options.name, ...options.labels },
      ...(options.annotations === undefined ? {} : { annotations: options.annotations }),
    },
    spec: {
      terminationGracePeriodSeconds: options.terminationGracePeriodSeconds ?? 2,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      // The cluster has no DNS, and the resolver of the host is useless to pods.
      dnsPolicy: 'Default',
      ...(options.hostNetwork === true ? { hostNetwork: true } : {}),
      ...(options.readinessGates === undefined
        ? {}
        : { readinessGates: options.readinessGates.map((conditionType) => ({ conditionType })) }),
      containers,
    },
  }
}

function container(options: PodOptions & { image: string; port: number }): KubeObject {
  const env: Record<string, string> = {
    PORT: String(options.port),
    READY_AFTER: String(options.readyAfter ?? 0),
    ...(options.refuseUntilReady === false ? {} : { REFUSE_UNTIL_READY: '1' }),
    ...(options.graceful === true ? { GRACEFUL: '1' } : {}),
    ...options.env,
  }
  return {
    name: options.name,
    image: options.image,
    imagePullPolicy: 'IfNotPresent',
    ports: [{ name: options.name === 'app' ? 'http' : options.name, containerPort: options.port }],
    env: [
      ...Object.entries(env).map(([name, value]) => ({ name, value })),
      { name: 'POD', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
    ],
    ...(options.probe === false
      ? {}
      : {
          readinessProbe: {
            httpGet: { path: '/healthz', port: options.port },
            periodSeconds: 1,
            failureThreshold: 1,
            // A busy machine answers late. With a timeout of one second, untouched pods were not ready, and were upgraded first.
            timeoutSeconds: 10,
          },
        }),
    ...(options.preStopSeconds === undefined
      ? {}
      : { lifecycle: { preStop: { exec: { command: ['/app', 'sleep', String(options.preStopSeconds)] } } } }),
  }
}

function metadataOf({ name, namespace: inNamespace }: { name: string; namespace?: string }): KubeObject {
  return { name, ...(inNamespace === undefined ? {} : { namespace: inNamespace }) }
}
