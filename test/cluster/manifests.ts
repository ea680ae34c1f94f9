import type { KubeObject } from './kube-api.ts'

/** What a test may vary of a pod; the rest is the same small application everywhere. */
export interface PodOptions {
  name: string
  namespace?: string
  /** localhost/app:v1, :v2, :v3, :v2-again (the digest of v2), :crash; :bad does not exist. */
  image?: string
  /** Seconds from the container's start until it is ready, 0 unless given. */
  readyAfter?: number
  /** false: no readiness probe, so that the kubelet reports Ready as soon as it runs. */
  probe?: boolean
  /** false: / answers 200 even before the application is ready. */
  refuseUntilReady?: boolean
  /** Finish requests in flight on SIGTERM; by default it dies at once. */
  graceful?: boolean
  /** A preStop hook that sleeps for so many seconds; it counts towards the grace period. */
  preStopSeconds?: number
  terminationGracePeriodSeconds?: number
  hostNetwork?: boolean
  port?: number
  /** Image of a second container; it listens on `sidecarPort`. */
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
  /** All pods at once by default; OrderedReady waits for each. */
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

/** A pod without an owner. */
export function pod(options: PodOptions): KubeObject {
  const { metadata, spec } = podTemplate(options)
  return { apiVersion: 'v1', kind: 'Pod', metadata: { ...metadataOf(options), ...metadata }, spec }
}

/** A Service over the pods of `name`: what makes EndpointSlices for them. */
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
    // It shares the pod's address, so it needs a port of its own; it is ready at once.
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
      // The cluster has no DNS, and the host's resolver is nothing to pods.
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
            // A machine that is busy answers late: with one second, pods that nobody had touched were not ready, and came first.
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
