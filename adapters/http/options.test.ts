import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { ConfigError, type ConfigIssue } from '../../src/config/config-error.ts'
import { loadConfig } from '../../src/config/load-config.ts'
import { httpOptions } from './options.ts'
import { serversApi } from './testing/servers-api.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-http-options-'))
afterAll(() => rmSync(folder, { recursive: true }))

type Options = Record<string, unknown>

/** The problems that `sluice` reports for a config with these options. */
async function issuesOf(over: Options): Promise<ConfigIssue[]> {
  const file = join(folder, 'sluice.yaml')
  const options = { ...serversApi('http://127.0.0.1:1'), ...over }
  const loadBalancers = [{ name: 'edge', adapter: 'http', port: 80, options }]
  writeFileSync(file, stringify({ apiVersion: 'sluice.dev/v1', kind: 'Config', loadBalancers }))
  try {
    await loadConfig(file)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return [...error.issues]
    throw error
  }
}

const { inspect, targets, drain, restore } = serversApi('') as Record<string, Options>
const put = { method: 'PUT', path: '/x' }

test('control: options without a mistake load', async () => {
  expect(await issuesOf({})).toEqual([])
})

test.each<[string, Options, string, string, string]>([
  [
    'an unknown variable',
    { drain: { ...put, body: { server: { weight: '${targt.id}' } } } },
    'drain.body.server.weight',
    'the expression targt.id is wrong: Unknown variable: targt (at character 1)',
    'known here: target (id, address, host, port, scope); operation (id, fence); body; headers; entry',
  ],
  [
    'an unknown field',
    { drain: { ...put, path: '/servers/${target.name}' } },
    'drain.path',
    'the expression target.name is wrong: No such key: name (at character 8)',
    'known here: target (id',
  ],
  [
    'a wrong type',
    { inspect: { ...inspect, routable: '1 + 2' } },
    'inspect.routable',
    'the expression 1 + 2 gives int, not true or false',
    'compare with ==',
  ],
  ['types that do not go together', { targets: { ...targets, address: 'entry.address + 80' } }, 'targets.address', '', ''],
  [
    'a state that is none',
    { inspect: { ...inspect, admin: 'entry.up ? "in" : "drained"' } },
    'inspect.admin',
    'gives "drained"',
    'it must give "in", "draining", "out"',
  ],
  ['broken CEL', { inspect: { ...inspect, weight: 'entry.' } }, 'inspect.weight', 'the expression entry. is wrong', 'known here'],
  [
    'an expression without an end',
    { restore: { ...put, headers: { 'X-Id': '${target.id' } } },
    'restore.headers.X-Id',
    '${ is not closed',
    'write $${ for the characters themselves',
  ],
  [
    'the prior state in a drain',
    { drain: { ...put, body: ['${prior.weight}'] } },
    'drain.body[0]',
    'the expression prior.weight is wrong: Unknown variable: prior',
    'known here',
  ],
  [
    'a prior state that nobody reads',
    { inspect: undefined },
    'restore.body.state',
    'the expression prior.state is wrong: Unknown variable: prior',
    'known here: target',
  ],
  [
    'a map in a path',
    { drain: { ...put, path: '/${{"a": 1}}' } },
    'drain.path',
    'the expression {"a": 1} gives map<string, int>',
    '',
  ],
  [
    'a secret in a header',
    { headers: { Authorization: 'Bearer hunter2' } },
    'headers.Authorization',
    'holds a secret in the config',
    'write {file: PATH} or {env: NAME} in its place',
  ],
  [
    'a secret in a header of a request',
    { drain: { ...put, headers: { 'x-api-key': 'hunter2' } } },
    'drain.headers.x-api-key',
    'holds a secret',
    'write',
  ],
  [
    'credentials in a header of another name',
    { headers: { 'X-Custom': 'Bearer hunter2' } },
    'headers.X-Custom',
    'holds a secret in the config',
    'write {file: PATH} or {env: NAME} in its place',
  ],
  [
    'what is no name of a variable',
    { auth: { bearer: { env: 'hunter2 x' } } },
    'auth.bearer.env',
    'is no name of an environment variable',
    'write its name, not what it holds',
  ],
  [
    'a secret in a query',
    { drain: { ...put, path: '/x?id=1&token=hunter2' } },
    'drain.path',
    'holds a secret: token',
    'send it as a header',
  ],
  [
    'a secret in a body',
    { drain: { ...put, body: { login: { password: 'hunter2' } } } },
    'drain.body.login.password',
    'holds a secret',
    'send',
  ],
  ['a secret in the url', { url: 'http://me:hunter2@127.0.0.1:1' }, 'url', 'holds a user or a password', 'use auth'],
  [
    'a number in place of text',
    { headers: { Authorization: 4711 } },
    'headers.Authorization',
    'must not be written out',
    'write {file: PATH}',
  ],
  ['auth written out', { auth: 'hunter2' }, 'auth', 'the value is not a mapping', ''],
  ['a user written out', { auth: { basic: 'me:hunter2' } }, 'auth.basic', 'the value is not a mapping', ''],
  ['no bearer', { auth: { bearer: null } }, 'auth.bearer', 'is empty', ''],
  ['what is no name of a header', { headers: { 'X Api Key': 'hunter2' } }, 'headers["X Api Key"]', 'is no name of a header', ''],
  [
    'a header that says where a message ends',
    { drain: { ...put, headers: { 'Content-Length': '5' } } },
    'drain.headers.Content-Length',
    'belongs to the connection',
    'remove it',
  ],
  ['a bearer written out', { auth: { bearer: 'hunter2' } }, 'auth.bearer', 'must not be written out', 'write {file: PATH}'],
  ['a misspelt source', { headers: { 'X-Key': { fil: 'a' } } }, 'headers.X-Key.fil', 'unknown key', 'did you mean "file"?'],
  ['no password', { auth: { basic: { username: 'u' } } }, 'auth.basic.password', 'is missing', ''],
  [
    'both kinds of auth',
    { auth: { bearer: { env: 'A' }, basic: { username: 'u', password: { env: 'B' } } } },
    'auth',
    'needs either',
    '',
  ],
  ['a secret in two places', { auth: { bearer: { env: 'A', file: 'B' } } }, 'auth.bearer', 'needs either file or env', ''],
  ['no URL', { url: 'localhost:80' }, 'url', 'is no http or https URL', ''],
  ['a URL with a query', { url: 'http://localhost:80/?a=1' }, 'url', 'has a query', 'path of each request'],
  ['tls on http', { tls: { ca: 'ca.pem' } }, 'tls', 'needs an https url', ''],
  [
    'no address',
    { targets: { request: { path: '/servers' }, id: 'entry.name' } },
    'targets.address',
    'is missing',
    'entry.address',
  ],
  ['nothing to read', { targets: { id: 'endpoint.address' } }, 'inspect', 'asks for nothing', 'give it a request'],
  [
    'versions without reading',
    { inspect: undefined, restore: put, capabilities: { idempotency: 'cas' } },
    'capabilities.idempotency',
    'cas needs inspect',
    'G0',
  ],
  [
    'a token that is not sent',
    { capabilities: { idempotency: 'client-token' } },
    'drain',
    'does not send the operation id',
    'Idempotency-Key',
  ],
  [
    'a version that is not sent',
    { capabilities: { idempotency: 'cas' } },
    'drain',
    'does not send the version',
    'If-Match: ${headers.etag}',
  ],
  ['reads that are behind by no time', { capabilities: { inspect: 'eventual' } }, 'capabilities.settle', 'is 0s', 'such as 5s'],
  ['a time without a unit', { capabilities: { settle: 5 } }, 'capabilities.settle', '5 has no unit', 'write "5s"'],
  ['a misspelt key', { inspekt: {} }, 'inspekt', 'unknown key', 'did you mean "inspect"?'],
  ['a space in a path', { drain: { ...put, path: '/a b' } }, 'drain.path', '" " cannot stand in a path', 'write it as %20'],
  ['a path that is none', { drain: { ...put, path: 'servers' } }, 'drain.path', 'must begin with /', 'added to url'],
])('%s is refused by name', async (_what, over, path, message, hint) => {
  const issues = await issuesOf(over)
  expect(issues.map((issue) => issue.path)).toContain(`loadBalancers[0].options.${path}`)
  const issue = issues.find((one) => one.path === `loadBalancers[0].options.${path}`)!
  expect(issue.message).toContain(message)
  expect(issue.hint ?? '').toContain(hint)
  expect(issue.line).toBeGreaterThan(1)
  expect(JSON.stringify(issues)).not.toMatch(/hunter2|4711/)
})

const token = { bearer: { env: 'TOKEN' } }
const login = {
  request: { method: 'POST', path: '/login', body: { password: '${secrets.password}' } },
  secrets: { password: { env: 'LB_PASSWORD' } },
  token: 'body.token',
  header: 'X-Token',
  lifetime: '10m',
}
const failover = { urls: ['http://10.0.0.8'], request: { path: '/' }, active: 'body.active' }

test.each<[string, Options, string]>([
  ['a token', { url: 'http://lb.example:81/api', auth: token }, 'url'],
  ['a password', { url: 'http://10.0.0.7', auth: { basic: { username: 'u', password: { env: 'PASSWORD' } } } }, 'url'],
  ['a header', { url: 'http://[fd00::1]', headers: { 'X-Consul-Token': { env: 'TOKEN' } } }, 'url'],
  ['a header of one request', { url: 'http://lb', drain: { ...put, headers: { 'X-Key': { file: 'key' } } } }, 'url'],
  ['a login', { url: 'http://lb', login }, 'url'],
  ['a token for the other unit', { failover, auth: token }, 'failover.urls[0]'],
  ['a token for one request', { drain: { ...put, url: 'http://10.0.0.9:8500' }, auth: token }, 'drain.url'],
  ['a token for one of several', { drain: [{ ...put, when: 'true', url: 'http://lb' }, put], auth: token }, 'drain[0].url'],
])('%s goes over plain HTTP to another host only where the config allows it', async (_what, over, path) => {
  const issues = await issuesOf(over)
  expect(issues).toHaveLength(1)
  expect(issues[0]).toMatchObject({
    path: `loadBalancers[0].options.${path}`,
    message: expect.stringMatching(/^would send credentials over plain HTTP to [^/]+$/),
    hint: 'write https, or a loopback address; or allowPlainHttp: true where nobody else is on the way',
  })
  expect(await issuesOf({ ...over, allowPlainHttp: true })).toEqual([])
})

test.each<[string, Options]>([
  ['loopback', { url: 'http://localhost:81', auth: token }],
  ['TLS', { url: 'https://lb', auth: token }],
  ['no secret', { url: 'http://lb', headers: { Host: 'lb' } }],
  ['the host of an entry, which is not known yet', { drain: { ...put, url: 'http://${entry.node}:1' }, auth: token }],
])('over %s it may go', async (_what, over) => expect(await issuesOf(over)).toEqual([]))

test('spaces and question marks in an expression are its own', async () => {
  const path = '/servers/${target.port == 80 ? "token=1" : target.id}?name=${ target.id }'
  expect(await issuesOf({ drain: { ...put, path } })).toEqual([])
})

test('what rests on the answer to an earlier request is no secret', () => {
  const headers = { 'X-Csrf-Token': '${headers["x-csrf-token"]}', 'If-Match': '${headers.etag}' }
  const capabilities = { idempotency: 'cas' }
  const options = { ...serversApi('http://a'), drain: { ...drain, headers }, restore: { ...restore, headers }, capabilities }
  expect(httpOptions.safeParse(options).error).toBeUndefined()
})
