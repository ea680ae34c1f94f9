import { expect, test } from 'vitest'
import { envoyOptions } from './options.ts'

const GOOD = { file: '/etc/envoy/eds.yaml', cluster: 'web' }

test.each([
  GOOD,
  { ...GOOD, admin: ['http://127.0.0.1:9901', 'https://[fd00::1]:9901'] },
  { ...GOOD, settle: '500ms', prefix: ['ssh', 'lb1'], temporaryFolder: '/etc' },
])('%j is taken', (options) => {
  expect(envoyOptions.safeParse(options).error).toBeUndefined()
})

test.each([
  [{ ...GOOD, file: 'eds.yaml' }, 'file', '"eds.yaml" is no absolute path\nwrite it from / on, without a / at its end'],
  [{ ...GOOD, cluster: '' }, 'cluster', 'is empty\nwrite the cluster_name that the file has'],
  [{ ...GOOD, admin: [] }, 'admin', 'is an empty list\nremove it, or write the address of each process'],
  [{ ...GOOD, admin: ['localhost:9901'] }, 'admin.0', '"localhost:9901" is no http or https URL\nwrite it as http://HOST:PORT'],
  [{ ...GOOD, admin: ['http://a:1/clusters'] }, 'admin.0', '"http://a:1/clusters" has a path\nwrite scheme, host and port alone'],
  [{ ...GOOD, admin: ['http://a:b@c:1'] }, 'admin.0', 'holds a user or a password\nremove them'],
  [{ ...GOOD, admin: ['http://a:1', 'http://a:1/'] }, 'admin', 'names "http://a:1/" twice\nname each process once'],
  [{ ...GOOD, settle: '5' }, 'settle', '5 has no unit\nwrite "5s" for seconds or "5ms" for milliseconds'],
  [{ ...GOOD, prefix: [] }, 'prefix', 'is an empty list\nremove it, or write a command such as [ssh, lb1]'],
  [
    { ...GOOD, admin: ['http://a:1'], settle: '1s' },
    'settle',
    'goes without admin\nremove it: with admin, a change is waited for until every Envoy shows it',
  ],
])('%j is refused', (options, path, message) => {
  const issues = envoyOptions.safeParse(options).error?.issues.map((issue) => [issue.path.join('.'), issue.message])
  expect(issues).toEqual([[path, message]])
})

test('both file and cluster are needed', () => {
  const paths = envoyOptions.safeParse({}).error?.issues.map(({ path }) => path.join('.'))
  expect(paths).toEqual(['file', 'cluster'])
})
