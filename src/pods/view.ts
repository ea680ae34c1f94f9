import { z } from 'zod'
import type { ContainerView, PodView, StoredJournal } from './glossary.ts'

/** The key of the annotation and the type of the condition that contain a pod's journal. */
export const JOURNAL_KEY = 'sluice.dev/journal'
export const REVISION_LABEL = 'controller-revision-hash'
const DEFAULT_GRACE_SECONDS = 30

const Ports = z
  .array(
    z.object({
      name: z.string().optional(),
      containerPort: z.number(),
      hostPort: z.number().nullish(),
      hostIP: z.string().nullish(),
      protocol: z.string().nullish(),
    }),
  )
  .nullish()

const Container = z.object({
  name: z.string(),
  image: z.string().default(''),
  ports: Ports,
  readinessProbe: z
    .object({
      // Defaults of the API server.
      initialDelaySeconds: z.number().default(0),
      periodSeconds: z.number().default(10),
      failureThreshold: z.number().default(3),
    })
    .nullish(),
})

const ContainerStatus = z.object({
  name: z.string(),
  image: z.string().default(''),
  imageID: z.string().default(''),
  containerID: z.string().optional(),
  ready: z.boolean().default(false),
  restartCount: z.number().default(0),
  state: z
    .object({
      running: z.object({ startedAt: z.string().nullish() }).nullish(),
      waiting: z.object({ reason: z.string().optional(), message: z.string().optional() }).nullish(),
    })
    .nullish(),
  lastState: z.object({ terminated: z.object({ containerID: z.string().optional() }).nullish() }).nullish(),
})

const Condition = z.object({
  type: z.string(),
  status: z.string(),
  reason: z.string().optional(),
  message: z.string().optional(),
  lastTransitionTime: z.string().nullish(),
})

const RawPod = z.object({
  metadata: z.object({
    name: z.string(),
    namespace: z.string(),
    uid: z.string(),
    resourceVersion: z.string(),
    generation: z.number().default(0),
    deletionTimestamp: z.string().nullish(),
    finalizers: z.array(z.string()).nullish(),
    labels: z.record(z.string(), z.string()).nullish(),
    annotations: z.record(z.string(), z.string()).nullish(),
    ownerReferences: z
      .array(
        z.object({
          apiVersion: z.string(),
          kind: z.string(),
          name: z.string(),
          uid: z.string(),
          controller: z.boolean().nullish(),
        }),
      )
      .nullish(),
  }),
  spec: z.object({
    nodeName: z.string().optional(),
    hostNetwork: z.boolean().nullish(),
    terminationGracePeriodSeconds: z.number().nullish(),
    restartPolicy: z.string().nullish(),
    readinessGates: z.array(z.object({ conditionType: z.string() })).nullish(),
    containers: z.array(Container),
    initContainers: z.array(z.object({ name: z.string(), restartPolicy: z.string().nullish(), ports: Ports })).nullish(),
  }),
  status: z
    .object({
      observedGeneration: z.number().nullish(),
      phase: z.string().optional(),
      hostIP: z.string().nullish(),
      hostIPs: z.array(z.object({ ip: z.string().default('') })).nullish(),
      podIP: z.string().optional(),
      podIPs: z.array(z.object({ ip: z.string().default('') })).nullish(),
      conditions: z.array(Condition).nullish(),
      containerStatuses: z.array(ContainerStatus).nullish(),
    })
    .default({}),
})

/**
 * Checks a raw Pod, and keeps the fields that sluice needs.
 * @throws z.ZodError if the object is no Pod
 */
export function podView(raw: unknown): PodView {
  const { metadata, spec, status } = RawPod.parse(raw)
  const statuses = status.containerStatuses ?? []
  const condition = (type: string): boolean =>
    status.conditions?.some((one) => one.type === type && one.status === 'True') ?? false
  const owner = metadata.ownerReferences?.find(({ controller }) => controller)
  const revision = metadata.labels?.[REVISION_LABEL]
  const sidecars = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always')
  const sidecarPorts = sidecars.flatMap(({ ports }) => portsOf(ports))
  const firstCondition = status.conditions?.[0]?.type
  const otherIps = (status.podIPs ?? []).map(({ ip }) => ip).filter((ip) => ip !== '' && ip !== status.podIP)
  // Kubernetes before 1.30 has `hostIP` only.
  const hostIps = [...new Set([status.hostIP ?? '', ...(status.hostIPs ?? []).map(({ ip }) => ip)])].filter((ip) => ip !== '')
  const changeOf = (type: string): string | undefined =>
    status.conditions?.find((one) => one.type === type)?.lastTransitionTime ?? undefined
  const readyAt = changeOf('ContainersReady')
  const isReady = condition('Ready')
  const readySince = isReady ? changeOf('Ready') : undefined
  return {
    uid: metadata.uid,
    name: metadata.name,
    namespace: metadata.namespace,
    resourceVersion: metadata.resourceVersion,
    generation: metadata.generation,
    observedGeneration: status.observedGeneration ?? 0,
    deleting: metadata.deletionTimestamp != null,
    ...deletionOf(metadata),
    finished: status.phase === 'Succeeded' || status.phase === 'Failed',
    ...(status.podIP ? { ip: status.podIP } : {}),
    ...(otherIps.length > 0 ? { otherIps } : {}),
    ...(spec.nodeName ? { node: spec.nodeName } : {}),
    ...(hostIps.length > 0 ? { hostIps } : {}),
    hostNetwork: spec.hostNetwork ?? false,
    ready: isReady,
    ...(readySince === undefined ? {} : { readySince }),
    containersReady: condition('ContainersReady'),
    ...notReadyBecause(spec, status),
    containers: spec.containers.map((container) => containerView(container, statuses, readyAt)),
    initContainers: spec.initContainers?.map(({ name }) => name) ?? [],
    ...(sidecarPorts.length > 0 ? { sidecarPorts } : {}),
    gracePeriodSeconds: spec.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS,
    ...(spec.restartPolicy && spec.restartPolicy !== 'Always' ? { restartPolicy: spec.restartPolicy } : {}),
    ...(owner ? { owner: { kind: owner.kind, name: owner.name, uid: owner.uid, apiVersion: owner.apiVersion } } : {}),
    ...(revision === undefined ? {} : { revision }),
    hasLabels: metadata.labels != null,
    hasAnnotations: metadata.annotations != null,
    ...(firstCondition === undefined ? {} : { firstCondition }),
    journal: storedJournal(metadata.annotations?.[JOURNAL_KEY], status.conditions ?? []),
  }
}

function deletionOf({ deletionTimestamp, finalizers }: z.infer<typeof RawPod>['metadata']): Pick<PodView, 'deletion'> {
  return deletionTimestamp == null ? {} : { deletion: { dueAt: deletionTimestamp, finalizers: finalizers ?? [] } }
}

/**
 * The reason why Ready is not True although all containers are ready. The kubelet sets a reason for readiness gates. Without a reason the
 * node controller has set the condition, because the node does not report (MarkPodsNotReady sets no reason).
 */
function notReadyBecause(
  { readinessGates, nodeName }: z.infer<typeof RawPod>['spec'],
  { conditions }: z.infer<typeof RawPod>['status'],
): Pick<PodView, 'closedGates' | 'nodeIsSilent'> {
  const find = (type: string): z.infer<typeof Condition> | undefined => conditions?.find((one) => one.type === type)
  const closedGates = (readinessGates ?? []).flatMap(({ conditionType: type }) => {
    const gate = find(type)
    return gate?.status === 'True'
      ? []
      : [{ type, status: gate?.status ?? 'missing', ...(gate?.message ? { message: gate.message } : {}) }]
  })
  const ready = find('Ready')
  const isByNode = ready?.status === 'False' && ready.reason === undefined && find('ContainersReady')?.status === 'True'
  return {
    ...(closedGates.length > 0 ? { closedGates } : {}),
    ...(isByNode && nodeName ? { nodeIsSilent: true } : {}),
  }
}

function storedJournal(annotation: string | undefined, conditions: readonly z.infer<typeof Condition>[]): StoredJournal {
  const index = conditions.findIndex(({ type }) => type === JOURNAL_KEY)
  const message = conditions[index]?.message
  return {
    ...(annotation === undefined ? {} : { annotation }),
    ...(index === -1 ? {} : { condition: { index, ...(message === undefined ? {} : { message }) } }),
  }
}

function containerView(
  container: z.infer<typeof Container>,
  statuses: readonly z.infer<typeof ContainerStatus>[],
  readyAt: string | undefined,
): ContainerView {
  const statusIndex = statuses.findIndex(({ name }) => name === container.name)
  const status = statuses[statusIndex]
  const waiting = status?.state?.waiting
  const lastTerminatedId = status?.lastState?.terminated?.containerID
  return {
    name: container.name,
    image: container.image,
    ports: portsOf(container.ports),
    ready: status?.ready ?? false,
    ...unprobed(container, status, readyAt),
    running: status?.state?.running != null,
    ...(status?.state?.running?.startedAt ? { startedAt: status.state.running.startedAt } : {}),
    restartCount: status?.restartCount ?? 0,
    ...(status ? { statusIndex } : {}),
    // A container in ErrImagePull that never ran has an empty ID.
    ...(status?.containerID ? { containerId: status.containerID } : {}),
    ...(status?.imageID ? { imageId: status.imageID } : {}),
    ...(status?.image ? { statusImage: status.image } : {}),
    ...(waiting?.reason ? { waitingReason: waiting.reason } : {}),
    ...(waiting?.message ? { waitingMessage: waiting.message } : {}),
    ...(lastTerminatedId ? { lastTerminatedId } : {}),
  }
}

function portsOf(ports: z.infer<typeof Ports>): ContainerView['ports'] {
  return (ports ?? []).map(({ name, containerPort, hostPort, hostIP, protocol }) => {
    // UDP with the same port number may belong to another pod, and an entry of a load balancer does not tell its protocol.
    const isHostPort = Boolean(hostPort) && (protocol ?? 'TCP') === 'TCP'
    const isEach = !hostIP || hostIP === '0.0.0.0' || hostIP === '::'
    return {
      ...(name ? { name } : {}),
      port: containerPort,
      ...(isHostPort ? { host: { port: hostPort!, ...(isEach ? {} : { ip: hostIP }) } } : {}),
    }
  })
}

/**
 * A restarted kubelet marks running containers of a Ready pod as ready until a probe fails, even a container that was just started and
 * never probed (prober_manager.go of 1.35, setReadyStateOnKubeletRestart). In that case ContainersReady is older than the container. Both
 * times are whole seconds.
 */
function unprobed(
  { readinessProbe }: z.infer<typeof Container>,
  status: z.infer<typeof ContainerStatus> | undefined,
  readyAt: string | undefined,
): Pick<ContainerView, 'unprobedMs'> {
  const startedAt = status?.state?.running?.startedAt
  if (!status?.ready || !readinessProbe || !startedAt || readyAt === undefined || readyAt >= startedAt) return {}
  const { initialDelaySeconds, periodSeconds, failureThreshold } = readinessProbe
  return { unprobedMs: (initialDelaySeconds + failureThreshold * periodSeconds + 1) * 1000 }
}
