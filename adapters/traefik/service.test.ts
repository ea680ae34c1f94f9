import { describe, expect, test } from 'vitest'
import { changeFields } from '../document/edit-yaml.ts'
import { readServers } from './service.ts'

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
    expect([...readServers(YAML, 'web')].map(([address, { url, weight }]) => [address, url, weight])).toEqual([
      ['10.0.0.1:8080', 'http://10.0.0.1:8080/base', null],
      ['[fd00::1]:443', 'https://[FD00::0:1]', 3],
      ['10.0.0.3:9000', 'h2c://10.0.0.3:9000', 0],
      ['app.internal:80', 'http://app.internal', null],
    ])
  })

  test('a weight is added and removed, and every other line stays', () => {
    const { path: map } = readServers(YAML, 'web').get('10.0.0.1:8080')!
    const changed = changeFields(YAML, [{ map, field: 'weight', to: 0 }])
    expect(changed).toBe(YAML.replace('- url: http://10.0.0.1', '- weight: 0\n            url: http://10.0.0.1'))
    expect(changeFields(changed, [{ map, field: 'weight', to: undefined }])).toBe(YAML)
  })
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
