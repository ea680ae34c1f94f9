import { describe, expect, test } from 'vitest'
import { changeFields } from '../document/edit-yaml.ts'
import { readAssignment, stateOf, strangeStatus } from './assignment.ts'

const YAML = `# Written by hand.
version_info: "7"
resources:
  - "@type": type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment
    cluster_name: web
    endpoints:
      - locality: {zone: a}
        lb_endpoints:
          - endpoint: # the first pod
              address: {socket_address: {address: 10.0.0.1, port_value: 8080}}
            load_balancing_weight: 3
          - {endpoint: {address: {socket_address: {address: "FD00::0:1", port_value: 8080}}}, health_status: UNHEALTHY}
          - endpoint: {address: {pipe: {path: /run/app.sock}}}
      - lb_endpoints: [{endpoint: {address: {socket_address: {address: 10.0.0.3, port_value: 8080}}}, health_status: DEGRADED}]
  - "@type": type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment
    cluster_name: other
    endpoints: []
`

const CAMEL = JSON.stringify({
  versionInfo: '7',
  resources: [
    {
      '@type': 'type.googleapis.com/envoy.service.discovery.v3.Resource',
      name: 'web',
      resource: {
        '@type': 'type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment',
        clusterName: 'web',
        endpoints: [
          {
            lbEndpoints: [
              {
                endpoint: { address: { socketAddress: { address: '10.0.0.1', portValue: 8080 } } },
                healthStatus: 3,
                loadBalancingWeight: 2,
              },
            ],
          },
        ],
      },
    },
  ],
})

describe('the endpoints of a cluster', () => {
  test('are those with an address and a port, of all localities', () => {
    const { endpoints, versionField } = readAssignment(YAML, 'web')
    expect(versionField).toBe('version_info')
    expect([...endpoints].map(([address, { state, status, weight }]) => [address, state, status, weight])).toEqual([
      ['10.0.0.1:8080', 'in', null, 3],
      ['[fd00::1]:8080', 'out', 'UNHEALTHY', undefined],
      ['10.0.0.3:8080', 'in', 'DEGRADED', undefined],
    ])
    expect(readAssignment(YAML, 'other').endpoints.size).toBe(0)
  })

  test('in the writing of JSON, and in a Resource', () => {
    const { endpoints, versionField } = readAssignment(CAMEL, 'web')
    expect(versionField).toBe('versionInfo')
    expect([...endpoints.values()]).toMatchObject([{ state: 'draining', status: 3, statusField: 'healthStatus', weight: 2 }])
  })

  test('a change of the first one leaves every other line as it is', () => {
    const { path: map, statusField: field } = readAssignment(YAML, 'web').endpoints.get('10.0.0.1:8080')!
    const changed = changeFields(YAML, [{ map, field, to: 'DRAINING' }])
    expect(changed).toBe(YAML.replace('- endpoint: #', '- health_status: DRAINING\n            endpoint: #'))
    expect(changeFields(changed, [{ map, field, to: undefined }])).toBe(YAML)
  })
})

test.each([
  ['HEALTHY', 'in'],
  ['UNKNOWN', 'in'],
  ['DEGRADED', 'in'],
  ['DRAINING', 'draining'],
  ['UNHEALTHY', 'out'],
  ['TIMEOUT', 'out'],
  [0, 'in'],
  [2, 'out'],
  [3, 'draining'],
  ['draining', 'in'],
  [undefined, 'in'],
])('health_status %j is %s', (status, state) => {
  expect(stateOf(status)).toBe(state)
})

test('a name that Envoy does not know is told', () => {
  const [, endpoint] = [...readAssignment(YAML.replace('UNHEALTHY', 'DRAINNG'), 'web').endpoints.values()]
  expect(endpoint?.state).toBe('in')
  expect(strangeStatus(endpoint!)).toBe('health_status "DRAINNG" is none that Envoy knows: it counts as HEALTHY')
  expect(strangeStatus({ ...endpoint!, status: 'UNHEALTHY' })).toBeUndefined()
})

test.each([
  ['a: 1\n', 'it has no list of resources'],
  [YAML.replaceAll('cluster_name: web', 'cluster_name: api'), 'it has no cluster web; it has api, other'],
  ['resources: []', 'it has no cluster web; it has none at all'],
  [YAML.replace('10.0.0.3', '10.0.0.1'), 'cluster web has 10.0.0.1:8080 twice: keep one of them'],
  ['resources: [', 'line 1'],
])('what cannot be used is told: %#', (text, why) => {
  expect(() => readAssignment(text, 'web')).toThrow(why)
})
