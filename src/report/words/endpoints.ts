import type { EndpointReasons } from '../../reasons/endpoint-reasons.ts'
import type { WordsOf } from './writing.ts'

function pairs(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(',')
}

export function labelsThatDiffer(labels: EndpointReasons['selector-differs']['labels']): string {
  return labels
    .map(({ name, wanted, value }) =>
      value === undefined
        ? `the pod has no label ${name}, of which the selector wants ${wanted}`
        : `label ${name} of the pod is ${value}, and the selector wants ${wanted}`,
    )
    .join('; ')
}

/** The words for the endpoints of a Service. */
export const endpoints: WordsOf<EndpointReasons> = {
  'no-selector': () => 'the Service has no selector: Kubernetes leaves its endpoints to other writers',
  'external-name': () => 'the Service is of type ExternalName, which has no endpoints',
  'selects-nothing': ({ selector }) => `no pod has the labels of the selector, ${pairs(selector)}`,
  'headless-without-ports': () => 'the Service is headless and has no ports: its endpoints have addresses alone',
  'selector-differs': ({ labels }) => labelsThatDiffer(labels),
  'pod-finished': ({ phase, restartPolicy }) =>
    `the pod has ended: its phase is ${phase}${restartPolicy === undefined ? '' : ` with restartPolicy ${restartPolicy}`}`,
  'pod-has-no-address': () => 'the pod has no address yet',
  'no-address-of-type': ({ addressType, has, forEndpoints }) =>
    `the pod has no ${addressType} address, only ${has.join(' and ') || 'none'}${forEndpoints ? `, and Endpoints have ${addressType} addresses alone` : ''}`,
  'node-not-found': ({ node }) => `there is no node ${node}: each sync of the Service leaves the pod out of its EndpointSlices`,
  'port-not-found': ({ port, targetPort, protocol, otherProtocol, inInitContainer }) =>
    `no container has a ${protocol} port named ${targetPort}, to which ${port === '' ? 'the port' : `port ${port}`} of the Service leads` +
    (otherProtocol === undefined ? '' : `; the one of that name is ${otherProtocol}`) +
    (inInitContainer ? '; the one of an init container counts only where that is a sidecar' : ''),
  'no-port-in-endpoints': () => 'Endpoints leave the pod out, since it has none of the ports of the Service',
  'ready-condition': ({ status, reason, message }) =>
    `condition Ready of the pod is ${status}${reason === undefined ? '' : ` (${reason})`}${message === undefined ? '' : `: ${message}`}`,
  'not-ready-published': () => 'the Service publishes addresses that are not ready: the pod gets requests all the same',
  'old-annotation-ignored': ({ annotation }) =>
    `the annotation ${annotation} has no effect any more: publishNotReadyAddresses has taken its place`,
  'endpoints-truncated': ({ limit, ready, notReady }) =>
    `Endpoints end at ${limit} addresses, and there are ${ready + notReady} (${notReady} not ready): the pod is among those left out`,
  'hostname-left-out': ({ hostname, subdomain }) =>
    `the hostname ${hostname} has no name in DNS below this Service: the subdomain of the pod is ${subdomain ?? 'not set'}`,
  'host-network': ({ node }) => `the pod has the addresses of ${node === undefined ? 'its node' : `node ${node}`}`,
}
