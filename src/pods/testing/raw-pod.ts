import type { PodView } from '../glossary.ts'
import { JOURNAL_KEY, podView } from '../view.ts'

/* Pods as the API server returns them, with the fields that sluice reads and some other fields. */

export interface RawContainer {
  name: string
  image: string
  /** The status of the container; absent before it has one. */
  status?: {
    id?: string
    imageId?: string
    /** The reported image. Default: the image of the spec. */
    image?: string
    ready?: boolean
    running?: boolean
    /** Null if the runtime does not report it. */
    startedAt?: string | null
    waiting?: { reason: string; message?: string }
    restartCount?: number
    lastId?: string
  }
  ports?: { name?: string; containerPort: number; hostPort?: number; hostIP?: string; protocol?: string }[]
  readinessProbe?: { initialDelaySeconds?: number; periodSeconds?: number; failureThreshold?: number }
}

export interface RawPodOptions {
  name?: string
  uid?: string
  resourceVersion?: string
  generation?: number
  observedGeneration?: number
  containers?: RawContainer[]
  ip?: string
  /** The addresses of a dual-stack pod in the other IP family. */
  otherIps?: string[]
  node?: string
  /** The addresses of the node. */
  hostIps?: string[]
  labels?: Record<string, string>
  annotations?: Record<string, string>
  /** Message of the condition `sluice.dev/journal`. */
  journalCondition?: string
  owner?: { kind: string; name: string; uid: string }
  deleting?: boolean
  phase?: string
  ready?: boolean
  /** Transition time of Ready. */
  readySince?: string
  containersReady?: boolean
  /** Transition time of ContainersReady. */
  containersReadySince?: string
  graceSeconds?: number
  finalizers?: string[]
  /** Readiness gates, with the status of their conditions if these exist. */
  gates?: { type: string; status?: string; message?: string }[]
}

const START = '2026-01-01T00:00:00Z'

// oxlint-disable-next-line no-explicit-any
export type Raw = any

export const runningA: NonNullable<RawContainer['status']> = {
  id: 'containerd://a',
  imageId: 'sha256:aaa',
  ready: true,
  running: true,
}

export function rawPod(options: RawPodOptions = {}): Raw {
  const { containers = [{ name: 'app', image: 'registry/app:v1', status: runningA }] } = options
  const statuses = containers
    .flatMap(({ name, image, status }) => (status ? [rawStatus(name, image, status)] : []))
    // The API sorts the statuses by name, unlike the spec.
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const condition = (type: string, value: boolean, since = START): Raw => ({
    type,
    status: value ? 'True' : 'False',
    lastProbeTime: null,
    lastTransitionTime: since,
  })
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: options.name ?? 'web-0',
      namespace: 'shop',
      uid: options.uid ?? 'uid-0',
      resourceVersion: options.resourceVersion ?? '100',
      ...(options.generation === undefined ? {} : { generation: options.generation }),
      creationTimestamp: '2026-01-01T00:00:00Z',
      ...(options.deleting ? { deletionTimestamp: '2026-01-01T00:01:00Z' } : {}),
      ...(options.finalizers ? { finalizers: options.finalizers } : {}),
      ...(options.labels ? { labels: options.labels } : {}),
      ...(options.annotations ? { annotations: options.annotations } : {}),
      ...(options.owner
        ? { ownerReferences: [{ apiVersion: 'apps/v1', ...options.owner, controller: true, blockOwnerDeletion: true }] }
        : {}),
    },
    spec: {
      ...(options.node === undefined ? {} : { nodeName: options.node }),
      ...(options.graceSeconds === undefined ? {} : { terminationGracePeriodSeconds: options.graceSeconds }),
      ...(options.gates ? { readinessGates: options.gates.map(({ type }) => ({ conditionType: type })) } : {}),
      containers: containers.map(({ name, image, ports, readinessProbe }) => ({
        name,
        image,
        ...(ports ? { ports } : {}),
        ...(readinessProbe ? { readinessProbe } : {}),
        resources: {},
      })),
    },
    status: {
      phase: options.phase ?? 'Running',
      ...(options.hostIps ? { hostIP: options.hostIps[0], hostIPs: options.hostIps.map((ip) => ({ ip })) } : {}),
      ...(options.observedGeneration === undefined ? {} : { observedGeneration: options.observedGeneration }),
      ...(options.ip === undefined
        ? {}
        : { podIP: options.ip, podIPs: [options.ip, ...(options.otherIps ?? [])].map((ip) => ({ ip })) }),
      conditions: [
        ...(options.journalCondition === undefined
          ? []
          : [{ type: JOURNAL_KEY, status: 'True', message: options.journalCondition }]),
        condition('Initialized', true),
        {
          ...condition('Ready', options.ready ?? true, options.readySince),
          ...(options.gates ? { reason: 'ReadinessGatesNotReady' } : {}),
        },
        ...(options.gates ?? []).flatMap(({ type, status, message }) => (status ? [{ type, status, message }] : [])),
        condition('ContainersReady', options.containersReady ?? options.ready ?? true, options.containersReadySince),
      ],
      ...(statuses.length > 0 ? { containerStatuses: statuses } : {}),
    },
  }
}

function rawStatus(name: string, image: string, status: NonNullable<RawContainer['status']>): Raw {
  const running = status.running ?? false
  return {
    name,
    image: status.image ?? image,
    imageID: status.imageId ?? '',
    ...(status.id === undefined ? {} : { containerID: status.id }),
    ready: status.ready ?? false,
    started: running,
    restartCount: status.restartCount ?? 0,
    state: running
      ? { running: { startedAt: status.startedAt === undefined ? START : status.startedAt } }
      : status.waiting
        ? { waiting: status.waiting }
        : { terminated: { exitCode: 137 } },
    lastState: status.lastId === undefined ? {} : { terminated: { containerID: status.lastId, exitCode: 137 } },
  }
}

export function testPod(options: RawPodOptions = {}): PodView {
  return podView(rawPod(options))
}
