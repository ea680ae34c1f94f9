import { messageType } from './message-type.ts'

/* The types of the variables, with the names that the fields have in Kubernetes. */

const METADATA = {
  name: 'string',
  labels: 'labels',
  annotations: 'labels',
  creationTimestamp: 'timestamp',
  deletionTimestamp: 'timestamp',
} as const

const NAMESPACED = { ...METADATA, namespace: 'string', uid: 'string' } as const

const Condition = messageType('Condition', {
  type: 'string',
  status: 'string',
  reason: 'string',
  message: 'string',
  lastTransitionTime: 'timestamp',
})

const Running = messageType('Running', { startedAt: 'timestamp' })
const Waiting = messageType('Waiting', { reason: 'string', message: 'string' })
const Terminated = messageType('Terminated', {
  reason: 'string',
  exitCode: 'int',
  containerID: 'string',
  startedAt: 'timestamp',
  finishedAt: 'timestamp',
})
const ContainerState = messageType('ContainerState', { running: Running, waiting: Waiting, terminated: Terminated })

const ContainerStatus = messageType('ContainerStatus', {
  name: 'string',
  ready: 'bool',
  started: 'bool',
  restartCount: 'int',
  image: 'string',
  imageID: 'string',
  containerID: 'string',
  state: ContainerState,
  lastState: ContainerState,
})

const ContainerPort = messageType('ContainerPort', { name: 'string', containerPort: 'int', protocol: 'string' })
const Container = messageType('Container', {
  name: 'string',
  image: 'string',
  restartPolicy: 'string',
  ports: { list: ContainerPort },
})
const ReadinessGate = messageType('ReadinessGate', { conditionType: 'string' })
const OwnerReference = messageType('OwnerReference', { apiVersion: 'string', kind: 'string', name: 'string', uid: 'string' })

export const POD = messageType('Pod', {
  metadata: messageType('PodMetadata', { ...NAMESPACED, generation: 'int', ownerReferences: { list: OwnerReference } }),
  spec: messageType('PodSpec', {
    nodeName: 'string',
    hostNetwork: 'bool',
    hostname: 'string',
    subdomain: 'string',
    restartPolicy: 'string',
    serviceAccountName: 'string',
    priorityClassName: 'string',
    containers: { list: Container },
    initContainers: { list: Container },
    readinessGates: { list: ReadinessGate },
  }),
  status: messageType('PodStatus', {
    phase: 'string',
    podIP: 'string',
    hostIP: 'string',
    startTime: 'timestamp',
    qosClass: 'string',
    observedGeneration: 'int',
    conditions: { list: Condition },
    containerStatuses: { list: ContainerStatus },
    initContainerStatuses: { list: ContainerStatus },
  }),
})

const Taint = messageType('Taint', { key: 'string', value: 'string', effect: 'string', timeAdded: 'timestamp' })

export const NODE = messageType('Node', {
  metadata: messageType('NodeMetadata', METADATA),
  spec: messageType('NodeSpec', { unschedulable: 'bool', taints: { list: Taint } }),
  status: messageType('NodeStatus', { conditions: { list: Condition } }),
})

const ServicePort = messageType('ServicePort', { name: 'string', port: 'int', protocol: 'string', appProtocol: 'string' })

export const SERVICE = messageType('Service', {
  metadata: messageType('ServiceMetadata', NAMESPACED),
  spec: messageType('ServiceSpec', {
    type: 'string',
    clusterIP: 'string',
    ipFamilies: 'strings',
    selector: 'labels',
    ports: { list: ServicePort },
    publishNotReadyAddresses: 'bool',
    externalTrafficPolicy: 'string',
    internalTrafficPolicy: 'string',
  }),
})

export const ENDPOINT = messageType('Endpoint', {
  address: 'string',
  addresses: 'strings',
  ready: 'bool',
  serving: 'bool',
  terminating: 'bool',
  hostname: 'string',
  nodeName: 'string',
  zone: 'string',
  targetRef: messageType('TargetRef', { kind: 'string', namespace: 'string', name: 'string', uid: 'string' }),
})

const EndpointPort = messageType('EndpointPort', { name: 'string', port: 'int', protocol: 'string', appProtocol: 'string' })

export const OBJECT = messageType('EndpointsObject', {
  kind: 'string',
  metadata: messageType('ObjectMetadata', NAMESPACED),
  addressType: 'string',
  ports: { list: EndpointPort },
  size: 'int',
})

export const REQUEST = messageType('Request', {
  operation: 'string',
  dryRun: 'bool',
  userInfo: messageType('UserInfo', { username: 'string', groups: 'strings' }),
})

export const CONDITION = Condition
