import { readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { afterEach, beforeAll, beforeEach, expect, test as anyTest } from 'vitest'
import type { Clock } from '../ports/clock.ts'
import { systemClock, systemRandom } from '../ports/system.ts'
import { resolveClusterAccess } from './cluster-access.ts'
import { connect, type Connection, type ConnectOptions, KubeConfigError } from './connect.ts'
import type { Credentials } from './credential.ts'
import { createCredentials } from './credentials.ts'
import type { PluginConsole } from './exec-plugin.ts'
import { KubeError } from './errors.ts'
import { createReflector, type ObjectRecord } from './reflector.ts'
import { type ApiServer, type Handler, startApiServer } from './testing/api-server.ts'
import { type Certificates, makeCertificates, opensslMissing } from './testing/certificates.ts'
import { makeTemporaryFolder, type TemporaryFolder } from './testing/temporary-folder.ts'
import { until } from './testing/until.ts'

const EXEC_API = 'client.authentication.k8s.io/v1'

// oxlint-disable-next-line vitest/expect-expect, vitest/valid-title -- it makes tests, and is none
const test = anyTest.skipIf(opensslMissing)

let certificates: Certificates
let folder: TemporaryFolder
let server: ApiServer
const connections: Connection[] = []

beforeAll(() => {
  certificates = makeCertificates()
})
beforeEach(async () => {
  folder = makeTemporaryFolder()
  server = await startApiServer({ tls: { certificates } })
})
afterEach(async () => {
  for (const connection of connections.splice(0)) await connection.close()
  await server.close()
  folder.remove()
})

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}

function writeConfig(user: object, cluster: object = {}): string {
  return folder.write('config', {
    clusters: [{ name: 'c', cluster: { server: server.url, 'certificate-authority-data': base64(certificates.ca), ...cluster } }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', namespace: 'shop' } }],
    'current-context': 'x',
  })
}

async function connectAs(
  user: object,
  options: Partial<ConnectOptions> & { cluster?: never } = {},
  cluster: object = {},
): Promise<Connection> {
  const connection = await connect({
    kubeconfig: writeConfig(user, cluster),
    clock: systemClock,
    random: systemRandom,
    ...options,
  })
  connections.push(connection)
  return connection
}

/** A plugin that counts its runs, and returns `token-N` at run N. */
function countingPlugin(status = '"token":"token-$n"'): { exec: object; runs: () => number } {
  const log = folder.write('runs', '')
  const answer = `{"apiVersion":"${EXEC_API}","kind":"ExecCredential","status":{${status}}}`
  const command = folder.script('plugin', [
    `echo run >> ${log}`,
    `n=$(wc -l < ${log} | tr -d ' ')`,
    'sleep 0.1',
    `cat <<END\n${answer}\nEND`,
  ])
  const runs = () => readFileSync(log, 'utf8').split('\n').length - 1
  return { exec: { apiVersion: EXEC_API, interactiveMode: 'Never', command }, runs }
}

function credentialsFor(user: object, options: { clock?: Clock; pluginConsole?: () => PluginConsole } = {}): Credentials {
  const access = resolveClusterAccess({ kubeconfig: writeConfig(user) })
  return createCredentials({ access, clock: systemClock, ...options })
}

/** Accepts the current value of `token`, and answers 401 otherwise. */
function acceptOnly(token: () => string): Handler {
  return (seen, response) => {
    if (seen.headers.authorization === `Bearer ${token()}`) response.end('{"ok":true}')
    else response.writeHead(401).end('{"kind":"Status","reason":"Unauthorized","message":"Unauthorized"}')
  }
}

async function failure(promise: Promise<unknown>): Promise<Error> {
  return promise.then(
    () => expect.unreachable('it went well'),
    (error: unknown) => error as Error,
  )
}

test('connects by a token, and says where', async () => {
  const connection = await connectAs({ token: 't' })
  expect(await connection.client.get('/version')).toEqual({ ok: true })
  expect([connection.namespace, connection.server]).toEqual(['shop', server.url])
  expect(server.seen[0]?.headers).toMatchObject({ authorization: 'Bearer t', 'user-agent': 'sluice', accept: 'application/json' })
})

test('connects by a client certificate, in data or in files', async () => {
  const { cert, key } = certificates.client
  await (await connectAs({ 'client-certificate-data': base64(cert), 'client-key-data': base64(key) })).client.get('/')
  folder.write('alice.crt', cert)
  folder.write('alice.key', key)
  await (await connectAs({ 'client-certificate': 'alice.crt', 'client-key': 'alice.key' })).client.get('/')
  expect(server.seen.map(({ commonName, headers }) => [commonName, headers.authorization])).toEqual([
    ['alice', undefined],
    ['alice', undefined],
  ])
})

test.each<[string, (pair: Certificates['client']) => { cert: string; key?: string }, string]>([
  ['is none', ({ key }) => ({ cert: 'x', key }), 'no start line'],
  ['has the key of another', ({ cert }) => ({ cert, key: certificates.renewed.key }), 'key values mismatch'],
  ['has no key', ({ cert }) => ({ cert }), 'there is no key'],
])('a client certificate that %s is named before anything is sent', async (_name, pairOf, why) => {
  const { cert, key } = pairOf(certificates.client)
  const error = await failure(connectAs({ 'client-certificate-data': base64(cert), 'client-key-data': key && base64(key) }))
  expect(error).toBeInstanceOf(KubeConfigError)
  expect(error.message).toContain(`the client certificate of user u in ${folder.path}/config cannot be used: `)
  expect(error.message).toContain(why)
})

test('connects by name and password', async () => {
  await (await connectAs({ username: 'alice', password: 'p:w' })).client.get('/')
  expect(server.seen[0]?.headers.authorization).toBe(`Basic ${base64('alice:p:w')}`)
})

test('connects to plain http, as of a local proxy', async () => {
  const plain = await startApiServer()
  try {
    await (await connectAs({}, {}, { server: plain.url, 'certificate-authority-data': undefined })).client.get('/')
    expect(plain.seen).toHaveLength(1)
  } finally {
    await plain.close()
  }
})

test('a cluster is not trusted without its authority, unless that was asked for', async () => {
  const strict = await connectAs({ token: 't' }, {}, { 'certificate-authority-data': undefined })
  const error = await failure(strict.client.get('/'))
  expect(error).toBeInstanceOf(KubeError)
  expect(error).toMatchObject({ kind: 'definite', status: undefined })
  await (
    await connectAs({ token: 't' }, {}, { 'certificate-authority-data': undefined, 'insecure-skip-tls-verify': true })
  ).client.get('/')
  expect(server.seen).toHaveLength(1)
})

test('of a server that is not trusted it is said by what, and not that Node could be told to', async () => {
  const other = base64(makeCertificates().ca)
  const wrong = await failure((await connectAs({ token: 't' }, {}, { 'certificate-authority-data': other })).client.get('/'))
  const where = `of cluster c in ${folder.path}/config`
  expect(wrong).toMatchObject({
    message: `GET /: the certificate of 127.0.0.1:${server.port} is not signed by certificate-authority-data ${where} (nothing was sent)`,
    hint: expect.stringContaining('get its kubeconfig again'),
  })
  const none = await failure((await connectAs({ token: 't' }, {}, { 'certificate-authority-data': undefined })).client.get('/'))
  expect(none).toMatchObject({
    message: expect.stringContaining(`that this machine trusts, and certificate-authority ${where} names no other`),
    hint: expect.stringContaining('certificate-authority-data'),
  })
})

test.each<[string, object, string]>([
  [
    'is no certificate',
    { 'certificate-authority-data': base64('-----BEGIN CERTIFICATE-----\nx') },
    'certificate-authority-data of cluster c in CONFIG holds no certificate',
  ],
  [
    'is not there',
    { 'certificate-authority-data': undefined, 'certificate-authority': 'none.crt' },
    'certificate-authority of cluster c in CONFIG cannot be read (ENOENT',
  ],
  [
    'is a file of something else',
    { 'certificate-authority-data': undefined, 'certificate-authority': 'config' },
    'certificate-authority of cluster c in CONFIG (FOLDER/config) holds no certificate',
  ],
])('an authority that %s is named before anything is sent', async (_name, cluster, message) => {
  const error = await failure(connectAs({ token: 't' }, {}, cluster))
  expect(error).toBeInstanceOf(KubeConfigError)
  expect(error.message).toContain(message.replace('CONFIG', `${folder.path}/config`).replace('FOLDER', folder.path))
})

test('sends the whole of an impersonation', async () => {
  const user = {
    token: 't',
    as: 'jane',
    'as-uid': '7',
    'as-groups': ['devs', 'ops'],
    'as-user-extra': { 'example.com/Why not': ['b', 'ü'] },
  }
  await (await connectAs(user)).client.get('/')
  const lines = server.seen[0]?.rawHeaders ?? []
  const impersonated = lines.flatMap((name, index) =>
    index % 2 === 0 && name.startsWith('Impersonate') ? [[name, lines[index + 1]]] : [],
  )
  expect(impersonated).toEqual([
    ['Impersonate-User', 'jane'],
    ['Impersonate-Group', 'devs'],
    ['Impersonate-Group', 'ops'],
    ['Impersonate-Uid', '7'],
    ['Impersonate-Extra-example.com%2Fwhy%20not', 'b'],
    ['Impersonate-Extra-example.com%2Fwhy%20not', Buffer.from('ü').toString('latin1')],
  ])
})

test('groups without a user are refused: they would be dropped', async () => {
  const error = await failure(connectAs({ token: 't' }, { asGroups: ['system:masters'] }))
  expect(error).toBeInstanceOf(KubeConfigError)
})

test('a token file is used, relative to the kubeconfig, and read again when its token is refused', async () => {
  folder.write('token', 'first\n')
  let wanted = 'first'
  server.handle(acceptOnly(() => wanted))
  const { client } = await connectAs({ tokenFile: 'token', token: 'old' })
  await client.get('/')
  folder.write('token', 'second\n')
  wanted = 'second'
  await client.patch('/', [])
  expect(server.seen.map(({ method, headers }) => [method, headers.authorization])).toEqual([
    ['GET', 'Bearer first'],
    ['PATCH', 'Bearer first'],
    ['PATCH', 'Bearer second'],
  ])
})

test('a token file that is missing or empty is an error, not an anonymous request', async () => {
  expect((await failure(connectAs({ tokenFile: 'token' }))).message).toMatch(/token file .* of user u cannot be read: ENOENT/)
  folder.write('token', ' \n')
  expect((await failure(connectAs({ tokenFile: 'token' }))).message).toMatch(/token file .* of user u is empty/)
})

test('a token with a line break in it is named by its place, and not shown', async () => {
  folder.write('token', 'SEC\nRET')
  const messages = [
    (await failure(connectAs({ token: 'SEC\nRET' }))).message,
    (await failure(connectAs({ tokenFile: 'token' }))).message,
  ]
  const why = 'the token has a line break in it, or another character that none has: write it in one line'
  expect(messages).toEqual([
    `token in ${folder.path}/config of user u: ${why}`,
    `token file ${folder.path}/token of user u: ${why}`,
  ])
  await (await connectAs({ token: 't\n' })).client.get('/')
})

test('a token file that cannot be read for a moment leaves the token that was read before', async () => {
  folder.write('token', 'first')
  let atMs = 0
  const clock: Clock = { ...systemClock, now: () => atMs }
  const access = resolveClusterAccess({ kubeconfig: writeConfig({ tokenFile: 'token' }) })
  const credentials = createCredentials({ access, clock })
  const first = await credentials.current()
  // A rotation may empty the file first.
  folder.write('token', '')
  atMs = 60_000
  expect((await credentials.current()).headers).toEqual({ authorization: 'Bearer first' })
  folder.write('token', 'second')
  expect((await credentials.current()).headers).toEqual({ authorization: 'Bearer second' })
  // A refused token is not used again.
  expect(credentials.refused(first)).toBe(true)
})

/** A token that expires after this number of seconds. */
function idToken(livesS: number): string {
  const parts = [{ alg: 'RS256' }, { sub: 'alice', exp: Math.floor(Date.now() / 1000) + livesS }, {}]
  return parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
}

test.each([
  ['that lives', idToken(60)],
  ['that does not say when it ends', 'opaque'],
])('an id token %s is used', async (_name, token) => {
  const { client } = await connectAs({ 'auth-provider': { name: 'oidc', config: { 'id-token': token } } })
  await client.get('/')
  expect(server.seen[0]?.headers.authorization).toBe(`Bearer ${token}`)
})

test.each([
  ['has ended', { 'id-token': idToken(-60) }],
  ['has ended', { 'id-token': idToken(-60), 'refresh-token': 'r', 'client-id': 'c', 'idp-issuer-url': 'https://localhost:1' }],
  ['is missing', {}],
])('an id token that %s is told of, and nobody goes on as anonymous', async (why, config) => {
  const error = await failure(connectAs({ 'auth-provider': { name: 'oidc', config } }))
  expect(error).toBeInstanceOf(KubeConfigError)
  expect(error.message).toContain(`the id-token of user u in ${folder.path}/config ${why}, and sluice does not renew it`)
  expect(server.seen).toEqual([])
})

test('20 first calls at once run the plugin once, and so do those after', async () => {
  const { exec, runs } = countingPlugin()
  const credentials = credentialsFor({ exec })
  const all = await Promise.all(Array.from({ length: 20 }, () => credentials.current()))
  all.push(await credentials.current())
  expect(new Set(all.map(({ headers }) => headers['authorization']))).toEqual(new Set(['Bearer token-1']))
  expect(runs()).toBe(1)
})

test('the plugin runs again when its credential ends', async () => {
  const ended = countingPlugin('"token":"token-$n","expirationTimestamp":"2001-01-01T00:00:00Z"')
  const credentials = credentialsFor({ exec: ended.exec })
  await credentials.current()
  expect((await credentials.current()).headers['authorization']).toBe('Bearer token-2')
})

test('a refused token is dropped and the request sent again, once', async () => {
  const { exec, runs } = countingPlugin()
  let wanted = 'token-1'
  server.handle(acceptOnly(() => wanted))
  const { client } = await connectAs({ exec })
  await client.get('/')
  wanted = 'token-2'
  await Promise.all(Array.from({ length: 10 }, () => client.patch('/', [])))
  expect(runs()).toBe(2)

  wanted = 'nobody has it'
  server.seen.length = 0
  expect(await failure(client.patch('/', []))).toMatchObject({ kind: 'definite', status: 401 })
  expect([server.seen.length, runs()]).toEqual([2, 3])
  // A token that was never accepted is not dropped at each request, so that the plugin is not run for each of them.
  for (let each = 0; each < 5; each += 1) expect(await failure(client.patch('/', []))).toMatchObject({ status: 401 })
  expect(runs()).toBe(3)
})

test('a fixed token that is refused is not sent again', async () => {
  server.handle(acceptOnly(() => 'other'))
  const { client } = await connectAs({ token: 't' })
  const hint = expect.stringContaining('log in again, or choose another user')
  expect(await failure(client.get('/'))).toMatchObject({ kind: 'definite', status: 401, reason: 'Unauthorized', hint })
  expect(server.seen).toHaveLength(1)
})

test('a plugin that hangs is killed and not waited for, and the next call runs it anew', async () => {
  const log = folder.write('runs', '')
  const children = folder.write('children', '')
  // The child holds the plugin's output open, and outlives the plugin.
  const command = folder.script('plugin', [`echo run >> ${log}`, 'sleep 600 &', `echo $! >> ${children}`, 'wait'])
  const credentials = credentialsFor(
    { exec: { apiVersion: EXEC_API, interactiveMode: 'Never', command } },
    { pluginConsole: () => ({ timeoutMs: 200, hasStdin: false, say() {} }) },
  )
  try {
    const errors = await Promise.all([failure(credentials.current()), failure(credentials.current())])
    errors.push(await failure(credentials.current()))
    for (const error of errors) expect(error.message).toContain(`${command} gave nothing within 0.2 s and was killed`)
    expect(readFileSync(log, 'utf8')).toBe('run\nrun\n')
  } finally {
    for (const pid of readFileSync(children, 'utf8').trim().split('\n')) process.kill(Number(pid))
  }
})

test('a plugin is not waited for longer than its answer, though the browser that it has opened holds its stderr', async () => {
  const children = folder.write('children', '')
  const command = folder.script('plugin', [
    'sleep 600 >&2 &',
    `echo $! >> ${children}`,
    `echo '{"apiVersion":"${EXEC_API}","kind":"ExecCredential","status":{"token":"t"}}'`,
  ])
  const credentials = credentialsFor(
    { exec: { apiVersion: EXEC_API, interactiveMode: 'Never', command } },
    { pluginConsole: () => ({ timeoutMs: 10_000, hasStdin: false, say() {} }) },
  )
  try {
    expect((await credentials.current()).headers['authorization']).toBe('Bearer t')
  } finally {
    for (const pid of readFileSync(children, 'utf8').trim().split('\n')) process.kill(Number(pid))
  }
})

test('a call does not wait longer for a plugin than it may take, and has sent nothing', async () => {
  const once = folder.write('once', '')
  const command = folder.script('plugin', [
    `[ -s ${once} ] && exec sleep 600`,
    `echo run >> ${once}`,
    `echo '{"apiVersion":"${EXEC_API}","kind":"ExecCredential","status":{"token":"first"}}'`,
  ])
  const { client } = await connectAs({ exec: { apiVersion: EXEC_API, interactiveMode: 'Never', command } })
  await client.get('/')
  server.handle(acceptOnly(() => 'second'))
  const error = await failure(client.patch('/', [], { deadlineMs: 300 }))
  expect(error).toMatchObject({ kind: 'definite', status: undefined })
  expect(server.seen.map(({ method }) => method)).toEqual(['GET', 'PATCH'])
})

test('a plugin that takes its time is named, one that is quick is not', async () => {
  const { exec } = countingPlugin()
  const told: string[] = []
  const onWaiting = (what: string): unknown => told.push(what)
  await connectAs({ exec }, { onWaiting })
  expect(told).toEqual([])
  // Every timer of this clock fires at once.
  const hasty: Clock = { ...systemClock, setTimeout: (callback) => systemClock.setTimeout(callback, 0) }
  await connectAs({ exec }, { onWaiting, clock: hasty })
  expect(told).toEqual([`user u: credential plugin ${folder.path}/plugin is waited for, 60 s at most`])
})

test('what a plugin says reaches the terminal as it comes, and its end is in the error', async () => {
  const go = `${folder.path}/go`
  const command = folder.script('plugin', [
    'echo "open the page and enter ABCD" >&2',
    `while [ ! -e ${go} ]; do sleep 0.05; done`,
    'echo "the code has ended" >&2',
    'exit 1',
  ])
  const told: string[] = []
  const pluginTerminal = {
    isAttended: true,
    hasStdin: false,
    // The plugin waits for a reaction of the person to its output, so it would hang if the output did not arrive in time.
    write: (text: string) => void (told.push(text), folder.write('go', '')),
    notice: () => expect.unreachable('nothing else is on the screen yet'),
  }
  const exec = { apiVersion: EXEC_API, interactiveMode: 'IfAvailable', command }
  const error = await failure(connectAs({ exec }, { pluginTerminal }))
  expect(told.join('')).toBe('open the page and enter ABCD\nthe code has ended\n')
  expect(error.message).toContain('failed (1): open the page and enter ABCD\nthe code has ended')
})

test.each([
  ['Never', true, false],
  ['IfAvailable', true, true],
  ['IfAvailable', false, false],
  ['Always', true, true],
])('interactiveMode %s with a terminal at stdin %s: interactive %s', async (interactiveMode, hasStdin, interactive) => {
  const command = folder.script('plugin', [
    `case "$KUBERNETES_EXEC_INFO" in *'"interactive":true'*) t=true;; *) t=false;; esac`,
    `echo '{"apiVersion":"${EXEC_API}","kind":"ExecCredential","status":{"token":"'$t'"}}'`,
  ])
  const credentials = credentialsFor(
    { exec: { apiVersion: EXEC_API, interactiveMode, command } },
    { pluginConsole: () => ({ timeoutMs: 20_000, hasStdin, say() {} }) },
  )
  expect((await credentials.current()).headers['authorization']).toBe(`Bearer ${interactive}`)
})

test('a plugin that renews in the middle of a run has no stdin, and is shown line by line beside the table', async () => {
  const command = folder.script('plugin', [
    `case "$KUBERNETES_EXEC_INFO" in *'"interactive":true'*) t=first;; *) t=later; printf 'renewed\\nfor an hour\\n' >&2;; esac`,
    `echo '{"apiVersion":"${EXEC_API}","kind":"ExecCredential","status":{"token":"'$t'"}}'`,
  ])
  const lines: string[] = []
  const write = () => expect.unreachable('that would tear the table apart')
  const pluginTerminal = { isAttended: true, hasStdin: true, write, notice: (line: string) => void lines.push(line) }
  const { client } = await connectAs(
    { exec: { apiVersion: EXEC_API, interactiveMode: 'IfAvailable', command } },
    { pluginTerminal },
  )
  await client.get('/')
  server.handle(acceptOnly(() => 'later'))
  await client.get('/')
  expect(server.seen.at(-1)?.headers.authorization).toBe('Bearer later')
  expect(lines).toEqual(['renewed', 'for an hour'])
})

test('the plugin learns who asks', async () => {
  const seen = `${folder.path}/info`
  const command = folder.script('plugin', [
    `printf '%s' "$KUBERNETES_EXEC_INFO" > ${seen}`,
    `echo '{"apiVersion":"${EXEC_API}","kind":"ExecCredential","status":{"token":"'"$OWN"'"}}'`,
  ])
  const extensions = [{ name: 'client.authentication.k8s.io/exec', extension: { audience: 'x' } }]
  const exec = {
    apiVersion: EXEC_API,
    interactiveMode: 'Never',
    command,
    env: [{ name: 'OWN', value: 'from-env' }],
    provideClusterInfo: true,
  }
  const { client } = await connectAs({ exec }, {}, { extensions })
  await client.get('/')
  expect(server.seen[0]?.headers.authorization).toBe('Bearer from-env')
  expect(JSON.parse(readFileSync(seen, 'utf8'))).toEqual({
    apiVersion: EXEC_API,
    kind: 'ExecCredential',
    spec: {
      interactive: false,
      cluster: { server: server.url, 'certificate-authority-data': base64(certificates.ca), config: { audience: 'x' } },
    },
  })
})

test('a plugin may give a client certificate', async () => {
  const { cert, key } = certificates.client
  const answer = folder.write('answer', {
    apiVersion: EXEC_API,
    kind: 'ExecCredential',
    status: { clientCertificateData: cert, clientKeyData: key },
  })
  const { client } = await connectAs({
    exec: { apiVersion: EXEC_API, interactiveMode: 'Never', command: folder.script('plugin', [`cat ${answer}`]) },
  })
  await client.get('/')
  expect(server.seen[0]?.commonName).toBe('alice')
})

test.each([
  ['is missing', { command: './none', installHint: 'get it from example.com' }, [], 'is not installed: get it from example.com'],
  ['fails', {}, ['echo no session, log in first >&2', 'exit 3'], 'failed (3): no session, log in first'],
  [
    'says nothing',
    {},
    ['true'],
    `gave nothing; it must print an ExecCredential of ${EXEC_API} with a token or a client certificate in its status: run it by hand to see what it says, or choose another user`,
  ],
  ['says half of it', {}, ['echo \'{"token":"SECRET"\''], 'gave something that is neither JSON nor YAML; it must print'],
  ['says null', {}, ['echo null'], 'gave no ExecCredential (it is null, and must be a mapping); it must print'],
  [
    'says something else',
    {},
    [`echo '{"apiVersion":"${EXEC_API}","kind":"SECRET"}'`],
    'gave no ExecCredential (kind must be one of ExecCredential; status is missing, and must be a mapping); it must print',
  ],
  [
    'gives no credential',
    {},
    [`echo '{"apiVersion":"${EXEC_API}","kind":"ExecCredential","status":{}}'`],
    'gave neither a token nor',
  ],
  [
    'speaks another version',
    {},
    ['echo \'{"apiVersion":"v9","kind":"ExecCredential","status":{"token":"SECRET"}}\''],
    'answered with apiVersion v9',
  ],
  ['is killed', { args: ['--secret=SECRET'] }, ['echo "out of memory" >&2', 'kill -KILL $$'], 'failed (SIGKILL): out of memory'],
  ['wants a terminal', { interactiveMode: 'Always' }, [], 'wants a terminal'],
])('a plugin that %s is told of', async (_name, exec, lines, message) => {
  const command = folder.script('plugin', lines)
  const error = await failure(connectAs({ exec: { apiVersion: EXEC_API, interactiveMode: 'Never', command, ...exec } }))
  expect(error).toBeInstanceOf(KubeConfigError)
  expect(error.message).toMatch(/^user u: credential plugin \//)
  expect(error.message).toContain(message)
  expect(error.message).not.toContain('SECRET')
})

test('a reflector lists and watches over the connection, through a cut, and lets go of it', async () => {
  const pod = (resourceVersion: string) => ({ metadata: { uid: 'a', name: 'web-0', namespace: 'shop', resourceVersion } })
  const watches: ServerResponse[] = []
  server.handle((seen, response) => {
    if (!seen.url.includes('watch=true'))
      return response.end(JSON.stringify({ metadata: { resourceVersion: '9' }, items: [pod('5')] }))
    watches.push(response)
    return response.flushHeaders()
  })
  const connection = await connectAs({ token: 't' })
  const events: string[] = []
  const reflector = createReflector({
    client: connection.client,
    clock: systemClock,
    random: systemRandom,
    path: '/api/v1/namespaces/shop/pods',
    decode: (raw) => (raw as { metadata: ObjectRecord }).metadata,
    onEvent: ({ type, record }) => events.push(`${type} ${record.resourceVersion}`),
    onError: () => {},
  })
  await reflector.start()
  await until(() => watches.length === 1)
  watches[0]?.write(`${JSON.stringify({ type: 'MODIFIED', object: pod('10') })}\n`)
  await until(() => events.length === 2)
  watches[0]?.destroy()
  await until(() => watches.length === 2)
  watches[1]?.write(`${JSON.stringify({ type: 'MODIFIED', object: pod('11') })}\n`)
  await until(() => events.length === 3)
  expect(events).toEqual(['added 5', 'modified 10', 'modified 11'])
  expect(server.seen.at(-1)?.url).toContain('resourceVersion=10')
  await reflector.stop()
  await connection.close()
  await until(() => server.open() === 0)
})

test('the service account of a pod is read again as its token rotates', async () => {
  const account = 'var/run/secrets/kubernetes.io/serviceaccount'
  folder.write(`${account}/token`, 'first')
  folder.write(`${account}/ca.crt`, certificates.ca)
  const env = { KUBERNETES_SERVICE_HOST: '127.0.0.1', KUBERNETES_SERVICE_PORT: String(server.port) }
  Object.assign(process.env, env)
  try {
    const connection = await connect({
      clock: systemClock,
      random: systemRandom,
      surroundings: { env, home: folder.path, serviceAccountRoot: folder.path },
    })
    connections.push(connection)
    let wanted = 'first'
    server.handle(acceptOnly(() => wanted))
    await connection.client.get('/')
    folder.write(`${account}/token`, 'second')
    wanted = 'second'
    expect(await connection.client.get('/')).toEqual({ ok: true })
  } finally {
    for (const name of Object.keys(env)) delete process.env[name]
  }
})
