import type { ControllerRules } from './controller-rules.ts'
import type { Container, EndpointPort, Pod, Protocol, Service, ServicePort } from './objects.ts'
import type { EndpointReasonOf } from './reasons.ts'

type NotFound = EndpointReasonOf<'port-not-found'>

const TCP = 'TCP'

export interface FoundPorts {
  readonly found: readonly EndpointPort[]
  readonly notFound: readonly NotFound[]
}

/** The ports of a Service in a pod, by the rules for EndpointSlices. */
export function slicePortsOf(service: Service, pod: Pod, rules: ControllerRules): FoundPorts {
  return portsOf(service, pod, rules.slicesKnowSidecarPorts)
}

export function endpointsPortsOf(service: Service, pod: Pod): FoundPorts {
  return portsOf(service, pod, true)
}

function portsOf({ spec: { ports = [] } }: Service, pod: Pod, withSidecars: boolean): FoundPorts {
  const found: EndpointPort[] = []
  const notFound: NotFound[] = []
  for (const port of ports) {
    const { name = '', protocol = TCP, appProtocol } = port
    const number = portIn(pod, port, withSidecars)
    if (number !== undefined) found.push({ name, port: number, protocol, ...(appProtocol === undefined ? {} : { appProtocol }) })
    else notFound.push({ code: 'port-not-found', port: name, ...missing(pod, port) })
  }
  return { found, notFound }
}

/** The port number in the pod. A numeric target port counts even where no container declares it. */
function portIn(
  { spec }: Pod,
  { port, targetPort = port, protocol = TCP }: ServicePort,
  withSidecars: boolean,
): number | undefined {
  if (typeof targetPort === 'number') return targetPort
  const sidecars = withSidecars ? (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always') : []
  return [...spec.containers, ...sidecars]
    .flatMap(({ ports = [] }) => ports)
    .find((one) => one.name === targetPort && (one.protocol ?? TCP) === protocol)?.containerPort
}

function missing({ spec }: Pod, { targetPort, protocol = TCP }: ServicePort): Omit<NotFound, 'code' | 'port'> {
  const named = (containers: readonly Container[]): Protocol[] =>
    containers.flatMap(({ ports = [] }) => ports.flatMap((one) => (one.name === targetPort ? [one.protocol ?? TCP] : [])))
  const other = named(spec.containers).find((one) => one !== protocol)
  const inInit = named(spec.initContainers ?? []).includes(protocol)
  return {
    targetPort: String(targetPort),
    protocol,
    ...(other === undefined ? {} : { otherProtocol: other }),
    ...(inInit ? { inInitContainer: true } : {}),
  }
}
