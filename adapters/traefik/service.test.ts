import { describe, expect, test } from 'vitest'
import { changeFields } from '../document/edit-yaml.ts'
import { readServers, readWeight } from './service.ts'

const YAML = `# By hand.
http:
  routers: {all: {rule: "Host(\`a.example\`)", service: web}}
  services:
    web:
      loadBalancer:
        servers:
          # The first pod.
          - url: http://10.0.0.1:8080/base
          - {url: "https://[FD00::0:1]", weight: 3, preservePath: true}
          - url: h2c://10.0.0.3:9000
            weight: 0 # broken since May
          - url: http://app.internal
    canary: {weighted: {services: [{name: web, weight: 1}]}}
`

describe('the servers of a service', () => {
  test('by address and port, with the port of the scheme where there is none', () => {
    expect([...readServers(YAML, 'web')].map(([address, { weight }]) => [address, weight])).toEqual([
      ['10.0.0.1:8080', null],
      ['[fd00::1]:443', 3],
      ['10.0.0.3:9000', 0],
      ['app.internal:80', null],
    ])
  })

  test('a weight is added and removed, and every other line stays', () => {
    const { path: map } = readServers(YAML, 'web').get('10.0.0.1:8080')!
    const changed = changeFields(YAML, [{ map, field: 'weight', to: 0 }])
    expect(changed).toBe(YAML.replace('- url: http://10.0.0.1', '- weight: 0\n            url: http://10.0.0.1'))
    expect(changeFields(changed, [{ map, field: 'weight', to: undefined }])).toBe(YAML)
  })
})

/** The values are as Traefik 3.7 reads them. */
describe('a weight in another writing', () => {
  test.each([
    ['weight: "0"', 0, '"0"'],
    ["weight: '+3'", 3, "'+3'"],
    ['weight: -1', -1, '-1'],
    ['weight: 0x10', 16, '0x10'],
    ['weight: 0.0', 0, '0.0'],
    ['weight: ~', null, '~'],
    ['Weight: 0', 0, '0'],
    ['WEIGHT: "2" # since May', 2, '"2"'],
    ['<<: {preservePath: true}', null, null],
    ['weight: 2\n            <<: [{weight: 0}]', 2, '2'],
  ])('%j is read, drained by its own name, and put back', (line, weight, written) => {
    const text = YAML.replace('weight: 0 # broken since May', line)
    const server = readServers(text, 'web').get('10.0.0.3:9000')!
    expect([server.weight, server.written]).toEqual([weight, written])
    expect(readWeight(written)).toBe(weight)
    const change = { map: server.path, field: server.weightField }
    const drained = changeFields(text, [{ ...change, to: { written: '0' } }])
    expect(readServers(drained, 'web').get('10.0.0.3:9000')).toMatchObject({ weight: 0, written: '0' })
    expect(changeFields(drained, [{ ...change, to: written === null ? undefined : { written } }])).toBe(text)
  })

  test('the other fields in capitals are those of Traefik too', () => {
    const text = YAML.replace('http:', 'HTTP:').replace('    web:\n      loadB', '    web:\n      LoadB')
    const [first] = readServers(text.replace('servers:', 'Servers:').replace('- url:', '- URL:'), 'web').values()
    expect(first).toMatchObject({ path: ['HTTP', 'services', 'web', 'LoadBalancer', 'Servers', 0], port: 8080 })
  })
})

const IN_THIRD = 'http.services.web.loadBalancer.servers.2'

test.each([
  ['weight: two', `${IN_THIRD}.weight is "two": write a whole number, in decimal digits`],
  ['weight: 1_000', `${IN_THIRD}.weight is "1_000": write a whole number`],
  ['weight: 0\n            Weight: 1', `${IN_THIRD} has weight and Weight: keep one of them`],
  ['<<: {weight: 0}', `${IN_THIRD} has weight from a merge key (<<): write it out where it belongs`],
  ['<<: [{preservePath: true}, {<<: {Weight: 0}}]', `${IN_THIRD} has Weight from a merge key (<<)`],
  ['weight: 1\n            <<: {Weight: 0}', `${IN_THIRD} has weight and Weight: keep one of them`],
])('%j is refused by its place', (line, why) => {
  expect(() => readServers(YAML.replace('weight: 0 # broken since May', line), 'web')).toThrow(why)
})

test('a service from a merge key is refused', () => {
  const text = `x: &x {web: {loadBalancer: {servers: []}}}\nhttp: {services: {<<: *x, api: {}}}\n`
  expect(() => readServers(text, 'web')).toThrow('http.services has web from a merge key (<<): write it out where it belongs')
})

test.each([
  [YAML.replace('    web:', '    api:'), 'it has no http.services.web; it has api, canary'],
  ['tcp: {services: {web: {}}}\n', 'it has no http.services.web; it has none at all'],
  [YAML.replace('10.0.0.3:9000', '10.0.0.1:8080'), 'http.services.web has 10.0.0.1:8080 twice: keep one of them'],
  ['http:\n  services:\n    web: {{ env "WEB" }} x\n', 'it has a Go template, and is no YAML as it is'],
  ['http: [', 'line 1'],
])('what cannot be used is told: %#', (text, why) => {
  expect(() => readServers(text, 'web')).toThrow(why)
})

test('a service of another kind is told by what it is', () => {
  expect(() => readServers(YAML, 'canary')).toThrow(
    'has no list loadBalancer.servers, but weighted: name the service that has the servers',
  )
})

test('a template in a text that is YAML all the same is no harm', () => {
  const text = YAML.replace('a.example', '{{ env `HOST` }}')
  expect(readServers(text, 'web').size).toBe(4)
})
