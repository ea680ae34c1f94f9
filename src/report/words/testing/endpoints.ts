import type { EndpointReasons, SharedCode } from '../../../reasons/endpoint-reasons.ts'
import type { SamplesOf } from './some.ts'

export const endpoints: SamplesOf<EndpointReasons> = {
  'no-selector': [{}],
  'external-name': [{}],
  'selects-nothing': [{ selector: { app: 'web', tier: 'front' } }],
  'headless-without-ports': [{}],
  'selector-differs': [
    { labels: [{ name: 'app', wanted: 'web', value: 'job' }] },
    {
      labels: [
        { name: 'app', wanted: 'web', value: 'job' },
        { name: 'tier', wanted: 'front' },
      ],
    },
  ],
  'pod-finished': [{ phase: 'Failed', restartPolicy: 'Never' }, { phase: 'Succeeded' }],
  'pod-has-no-address': [{}],
  'no-address-of-type': [
    { addressType: 'IPv6', has: ['IPv4'], forEndpoints: false },
    { addressType: 'IPv6', has: ['IPv4'], forEndpoints: true },
  ],
  'node-not-found': [{ node: 'node-7' }],
  'port-not-found': [
    { port: 'web', targetPort: 'http', protocol: 'TCP' },
    { port: '', targetPort: 'dns', protocol: 'TCP', otherProtocol: 'UDP' },
    { port: 'setup', targetPort: 'setup', protocol: 'TCP', inInitContainer: true },
  ],
  'no-port-in-endpoints': [{}],
  'ready-condition': [{ status: 'missing' }, { status: 'False', reason: 'PodFailed', message: 'evicted' }],
  'not-ready-published': [{}],
  'old-annotation-ignored': [{ annotation: 'service.alpha.kubernetes.io/tolerate-unready-endpoints' }],
  'endpoints-truncated': [{ limit: 1000, ready: 998, notReady: 9 }],
  'hostname-left-out': [{ hostname: 'web-0' }, { hostname: 'web-0', subdomain: 'other' }],
  'host-network': [{ node: 'node-1' }, {}],
}

const SHARED: Record<SharedCode, true> = {
  terminating: true,
  'containers-not-ready': true,
  'readiness-gates-closed': true,
  'node-silent': true,
}

/** The codes of all reasons of endpoints. */
export const endpointCodes: readonly string[] = [...Object.keys(endpoints), ...Object.keys(SHARED)]
