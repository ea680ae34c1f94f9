import { expect, test } from 'vitest'
import type { EndpointReason } from '../../endpoints/reasons.ts'
import { endpointReason } from './endpoints.ts'
import { reasonSamples } from './testing/samples.ts'
import { endpointSamples } from './testing/endpoints.ts'

const samples = Object.entries(endpointSamples).flatMap(([code, some]) =>
  some.map((facts) => ({ code, ...facts }) as EndpointReason),
)

test('each reason of endpoints has words', () => {
  const words = samples.map((reason) => `${reason.code}: ${endpointReason(reason)}`)
  expect(words.filter((one) => /undefined|\[object|NaN| {2}| [,;:]|\(\)| $/.test(one))).toEqual([])
  expect(words.join('\n')).toMatchInlineSnapshot(`
    "no-selector: the Service has no selector: Kubernetes leaves its endpoints to other writers
    external-name: the Service is of type ExternalName, which has no endpoints
    selects-nothing: no pod has the labels of the selector, app=web,tier=front
    headless-without-ports: the Service is headless and has no ports: its endpoints have addresses alone
    selector-differs: label app of the pod is job, and the selector wants web
    selector-differs: label app of the pod is job, and the selector wants web; the pod has no label tier, of which the selector wants front
    pod-finished: the pod has ended: its phase is Failed with restartPolicy Never
    pod-finished: the pod has ended: its phase is Succeeded
    pod-has-no-address: the pod has no address yet
    no-address-of-type: the pod has no IPv6 address, only IPv4
    no-address-of-type: the pod has no IPv6 address, only IPv4, and Endpoints have IPv6 addresses alone
    node-not-found: there is no node node-7: EndpointSlices leave the pod out until there is
    port-not-found: no container has a TCP port named http, to which port web of the Service leads
    port-not-found: no container has a TCP port named dns, to which the port of the Service leads; the one of that name is UDP
    port-not-found: no container has a TCP port named setup, to which port setup of the Service leads; the one of an init container counts only where that is a sidecar
    no-port-in-endpoints: Endpoints leave the pod out, since it has none of the ports of the Service
    ready-condition: condition Ready of the pod is missing
    ready-condition: condition Ready of the pod is False (PodFailed): evicted
    not-ready-published: the Service publishes addresses that are not ready: the pod gets requests all the same
    old-annotation-ignored: the annotation service.alpha.kubernetes.io/tolerate-unready-endpoints has no effect any more: publishNotReadyAddresses has taken its place
    endpoints-truncated: Endpoints end at 1000 addresses, and there are 1007 (9 not ready): the pod is among those left out
    hostname-left-out: the hostname web-0 has no name in DNS below this Service: the subdomain of the pod is not set
    hostname-left-out: the hostname web-0 has no name in DNS below this Service: the subdomain of the pod is other
    host-network: the pod has the addresses of node node-1
    host-network: the pod has the addresses of its node"
  `)
})

test('what a pod is known by elsewhere has the same words and the same code', () => {
  expect(endpointReason({ code: 'node-silent', node: 'node-1' })).toBe('node node-1 does not report')
  expect(Object.keys(endpointSamples).filter((code) => code in reasonSamples)).toEqual([])
})
