import { expect, test } from 'vitest'
import { traefikOptions } from './options.ts'

const GOOD = { file: '/etc/traefik/dynamic/web.yaml', service: 'web' }

test.each([
  GOOD,
  { ...GOOD, file: '/etc/traefik/dynamic/web.yml', api: ['http://127.0.0.1:8080'], throttle: '500ms' },
  { ...GOOD, prefix: ['ssh', 'lb1'], temporaryFolder: '/etc/traefik' },
])('%j is taken', (options) => {
  expect(traefikOptions.safeParse(options).error).toBeUndefined()
})

test.each([
  [{ ...GOOD, file: '/etc/traefik/web.toml' }, 'file', 'is TOML\nwrite the service into a file of YAML beside it'],
  [{ ...GOOD, file: '/etc/traefik/web' }, 'file', 'does not end in .yaml or .yml\nname the file of YAML that has the service'],
  [{ ...GOOD, service: 'web@file' }, 'service', '"web@file" is no name of a service\nwrite it as in the file, without @file'],
  [{ ...GOOD, api: [] }, 'api', 'is an empty list\nremove it, or write the address of each process'],
  [{ ...GOOD, api: ['http://a:1/dashboard/'] }, 'api.0', '"http://a:1/dashboard/" has a path\nwrite scheme, host and port alone'],
  [{ ...GOOD, throttle: 2 }, 'throttle', '2 has no unit\nwrite "2s" for seconds or "2ms" for milliseconds'],
])('%j is refused', (options, path, message) => {
  const issues = traefikOptions.safeParse(options).error?.issues.map((issue) => [issue.path.join('.'), issue.message])
  expect(issues).toEqual([[path, message]])
})
