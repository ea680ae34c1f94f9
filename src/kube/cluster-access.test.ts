import { delimiter, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type AccessOptions, resolveClusterAccess } from './cluster-access.ts'
import { KubeConfigError } from './kubeconfig-error.ts'
import { makeTemporaryFolder, type TemporaryFolder } from './testing/temporary-folder.ts'

let folder: TemporaryFolder
beforeEach(() => {
  folder = makeTemporaryFolder()
})
afterEach(() => folder.remove())

interface Part {
  clusters?: Record<string, object>
  users?: Record<string, object>
  contexts?: Record<string, object>
  current?: string | undefined
}

function kubeconfig({ clusters = {}, users = {}, contexts = {}, current }: Part): object {
  const list = (entries: Record<string, object>, kind: string) =>
    Object.entries(entries).map(([name, value]) => ({ name, [kind]: value }))
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: list(clusters, 'cluster'),
    users: list(users, 'user'),
    contexts: list(contexts, 'context'),
    'current-context': current,
  }
}

const WHOLE: Part = {
  clusters: { dev: { server: 'https://dev:6443' }, prod: { server: 'https://prod:6443/gateway/' } },
  users: { alice: { token: 'a' }, bob: { token: 'b' } },
  contexts: { dev: { cluster: 'dev', user: 'alice' }, prod: { cluster: 'prod', user: 'bob', namespace: 'shop' } },
  current: 'dev',
}

function resolve(options: AccessOptions = {}, env: NodeJS.ProcessEnv = {}, serviceAccountRoot = folder.path) {
  return resolveClusterAccess(options, { env, home: folder.path, serviceAccountRoot })
}

function failure(run: () => unknown): KubeConfigError {
  try {
    run()
  } catch (error) {
    if (error instanceof KubeConfigError) return error
    throw error
  }
  return expect.unreachable('it was accepted')
}

test('reads ~/.kube/config, and the current context with its namespace', () => {
  folder.write('.kube/config', kubeconfig({ ...WHOLE, current: 'prod' }))
  expect(resolve()).toMatchObject({
    server: 'https://prod:6443/gateway',
    namespace: 'shop',
    context: 'prod',
    user: { name: 'bob' },
  })
  expect(resolve({ context: 'dev' })).toMatchObject({ server: 'https://dev:6443', namespace: 'default', user: { name: 'alice' } })
})

test('--kubeconfig goes before KUBECONFIG, and KUBECONFIG before ~/.kube/config', () => {
  const named = (server: string) => kubeconfig({ ...WHOLE, clusters: { dev: { server } } })
  folder.write('.kube/config', named('https://home'))
  const env = { KUBECONFIG: folder.write('env', named('https://env')) }
  const asked = folder.write('asked', named('https://asked'))
  expect(resolve().server).toBe('https://home')
  expect(resolve({}, env).server).toBe('https://env')
  expect(resolve({ kubeconfig: asked }, env).server).toBe('https://asked')
})

test('--cluster, --user and --namespace replace those of the context', () => {
  folder.write('.kube/config', kubeconfig(WHOLE))
  expect(resolve({ cluster: 'prod', user: 'bob', namespace: 'x' })).toMatchObject({
    server: 'https://prod:6443/gateway',
    user: { name: 'bob' },
    namespace: 'x',
  })
})

test('several files in KUBECONFIG are merged as kubectl does: the first of a name counts, missing files do not', () => {
  const first = folder.write(
    'first',
    kubeconfig({ clusters: { dev: { server: 'https://first' } }, users: { alice: { token: 'a' } } }),
  )
  const second = folder.write('second', kubeconfig(WHOLE))
  const third = folder.write('third', kubeconfig({ ...WHOLE, current: 'prod' }))
  const empty = folder.write('empty', '\n')
  const remarks = folder.write('remarks', '# nothing yet\r\n  # and more\n')
  const env = { KUBECONFIG: [first, '', empty, remarks, join(folder.path, 'missing'), second, third].join(delimiter) }
  expect(resolve({}, env)).toMatchObject({ server: 'https://first', context: 'dev', user: { name: 'alice' } })
})

test('what is missing is named, with what there is instead', () => {
  const file = folder.write('.kube/config', kubeconfig({ ...WHOLE, current: undefined }))
  const messages = [
    failure(() => resolve()).message,
    failure(() => resolve({ context: 'test' })).message,
    failure(() => resolve({ context: 'dev', cluster: 'test' })).message,
    failure(() => resolve({ context: 'dev', user: 'carol' })).message,
  ]
  expect(messages).toEqual([
    `no current context in ${file}; choose a context: dev, prod`,
    `context test is not in ${file}; choose another context: dev, prod`,
    `cluster test is not in ${file}; choose another cluster: dev, prod`,
    `user carol is not in ${file}; choose another user: alice, bob`,
  ])
  expect(failure(() => resolve({ context: 'test' }))).toMatchObject({ files: [file], context: 'test' })
})

test('files that cannot be read or parsed are named, and their content is not', () => {
  const missing = join(folder.path, 'missing')
  expect(failure(() => resolve({ kubeconfig: missing })).message).toContain(`kubeconfig ${missing} cannot be read: ENOENT`)
  expect(failure(() => resolve({}, { KUBECONFIG: missing })).message).toContain(`KUBECONFIG names ${missing}`)
  const broken = folder.write('broken', 'users:\n- name: x\n  token: SECRET\n   bad: [\n')
  const error = failure(() => resolve({ kubeconfig: broken }))
  expect(error.message).toContain(`kubeconfig ${broken} cannot be parsed in line 3: block as implicit key`)
  expect(`${error.message} ${String(error.cause)}`).not.toContain('SECRET')
  const scalar = folder.write('scalar', 'just text')
  expect(failure(() => resolve({ kubeconfig: scalar })).message).toContain('it is no mapping')
})

test('entries that are not whole only matter where they are used', () => {
  const broken = { ...WHOLE, clusters: { ...WHOLE.clusters, bad: {} }, contexts: { ...WHOLE.contexts, bad: { cluster: 'bad' } } }
  folder.write('.kube/config', kubeconfig(broken))
  expect(resolve().server).toBe('https://dev:6443')
  expect(failure(() => resolve({ context: 'bad' })).message).toContain('cluster bad has no server')
})

test('a server or a proxy that cannot be used is refused', () => {
  const withCluster = (cluster: object) => folder.write('.kube/config', kubeconfig({ ...WHOLE, clusters: { dev: cluster } }))
  withCluster({ server: 'dev:6443' })
  expect(failure(() => resolve()).message).toContain('must be a URL that begins with https:// or http://')
  withCluster({ server: 'https://dev', 'proxy-url': 'socks5://user:SECRET@proxy:1080' })
  expect(failure(() => resolve()).message).toBe('cluster dev: proxy-url must be http:// or https://; socks5 is not supported')
  withCluster({ server: 'https://dev', 'proxy-url': 'http://proxy:3128' })
  expect(resolve().proxyUrl).toBe('http://proxy:3128')
})

test('without a proxy-url the environment names the proxy, as it does for kubectl', () => {
  const withCluster = (cluster: object) => folder.write('.kube/config', kubeconfig({ ...WHOLE, clusters: { dev: cluster } }))
  const env = { HTTPS_PROXY: 'http://office:3128' }
  withCluster({ server: 'https://dev:6443' })
  expect(resolve({}, env).proxyUrl).toBe('http://office:3128')
  expect(resolve({}, { ...env, NO_PROXY: 'dev' }).proxyUrl).toBeUndefined()
  expect(failure(() => resolve({}, { HTTPS_PROXY: 'socks5://user:SECRET@office' })).message).toBe(
    'HTTPS_PROXY must be http:// or https://; socks5 is not supported; a cluster that is reached without it is named in NO_PROXY: dev',
  )
  withCluster({ server: 'https://dev:6443', 'proxy-url': 'http://proxy:3128' })
  expect(resolve({}, env).proxyUrl).toBe('http://proxy:3128')
})

test('paths are relative to the file; a plugin without a slash is looked up in PATH', () => {
  const exec = (command: string) => ({
    exec: { apiVersion: 'client.authentication.k8s.io/v1', interactiveMode: 'Never', command },
  })
  const users = { alice: { tokenFile: 'secrets/token' }, bob: exec('./bin/plugin'), carol: exec('plugin') }
  const cluster = { server: 'https://dev', 'certificate-authority': 'ca.crt' }
  const file = folder.write('some/where/config', kubeconfig({ ...WHOLE, clusters: { dev: cluster }, users }))
  const where = join(folder.path, 'some', 'where')
  expect(resolve({ kubeconfig: file, user: 'alice' }).user.tokenFile).toBe(join(where, 'secrets', 'token'))
  expect(resolve({ kubeconfig: file, user: 'bob' }).exec?.command).toBe(join(where, 'bin', 'plugin'))
  expect(resolve({ kubeconfig: file, user: 'carol' }).exec?.command).toBe('plugin')
  expect(resolve({ kubeconfig: file, user: 'alice' }).cluster['certificate-authority']).toBe(join(where, 'ca.crt'))
})

test('a file with a malformed field is refused, whoever is asked for, as kubectl does', () => {
  folder.write('.kube/config', kubeconfig({ ...WHOLE, users: { alice: { 'as-groups': 'admins' }, bob: {} } }))
  for (const context of ['dev', 'prod'])
    expect(failure(() => resolve({ context })).message).toContain('users.0.user.as-groups is a text, and must be a list')
})

const EXEC = { apiVersion: 'client.authentication.k8s.io/v1', command: 'x', interactiveMode: 'Never' }

test.each<[string, object, string]>([
  [
    'the provider of gcp',
    { 'auth-provider': { name: 'gcp' } },
    'auth-provider "gcp": such providers are gone from Kubernetes clients since 1.26, but for oidc; name a credential plugin in exec: gke-gcloud-auth-plugin, which "gcloud container clusters get-credentials" sets up',
  ],
  [
    'a provider that nobody knows',
    { 'auth-provider': { name: 'own', config: {} } },
    'auth-provider "own": such providers are gone from Kubernetes clients since 1.26, but for oidc; name a credential plugin in exec',
  ],
  ['no command', { exec: { ...EXEC, command: null } }, 'exec.command is empty, and must be given'],
  ['an empty command', { exec: { ...EXEC, command: '' } }, 'exec.command is empty, and must be given'],
  [
    'no version',
    { exec: { ...EXEC, apiVersion: undefined } },
    'exec.apiVersion must be one of client.authentication.k8s.io/v1, client.authentication.k8s.io/v1beta1',
  ],
  [
    'no mode',
    { exec: { ...EXEC, interactiveMode: undefined } },
    'exec.interactiveMode must be one of Never, IfAvailable, Always',
  ],
  [
    'a mode that is none',
    { exec: { ...EXEC, interactiveMode: 'Perhaps' } },
    'exec.interactiveMode must be one of Never, IfAvailable, Always',
  ],
])('of a user that has %s it is said what must stand there', (_name, alice, problem) => {
  const file = folder.write('.kube/config', kubeconfig({ ...WHOLE, users: { alice } }))
  expect(failure(() => resolve()).message).toBe(`user alice in ${file} cannot be used: ${problem}`)
})

test('the provider for oidc is one that can be used', () => {
  const alice = { 'auth-provider': { name: 'oidc', config: { 'id-token': 'x' } } }
  folder.write('.kube/config', kubeconfig({ ...WHOLE, users: { alice } }))
  expect(resolve().user['auth-provider']).toMatchObject({ name: 'oidc' })
})

test('impersonation on the command line stands for all of it', () => {
  const alice = { token: 'a', as: 'robot', 'as-uid': '7', 'as-groups': ['robots'], 'as-user-extra': { reason: ['x'] } }
  folder.write('.kube/config', kubeconfig({ ...WHOLE, users: { alice } }))
  expect(resolve().impersonation).toEqual({ user: 'robot', uid: '7', groups: ['robots'], extra: { reason: ['x'] } })
  expect(resolve({ as: 'jane' }).impersonation).toEqual({ user: 'jane', groups: undefined, uid: undefined })
  expect(resolve({ asGroups: ['others'] }).impersonation).toMatchObject({ user: 'robot', groups: ['others'] })
})

describe('in a pod', () => {
  const account = 'var/run/secrets/kubernetes.io/serviceaccount'
  const pod = { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' }
  const SERVER = 'https://10.0.0.1:443'
  beforeEach(() => {
    folder.write(`${account}/token`, 't')
    folder.write(`${account}/namespace`, 'ci')
  })

  // client-go's DeferredLoadingClientConfig uses the service account if the merged config equals the defaults.
  test.each([
    ['is empty', { KUBECONFIG: 'empty' }, {}],
    ['chooses no context', { KUBECONFIG: 'unchosen' }, {}],
    ['is missing', { KUBECONFIG: 'missing' }, {}],
    ['is empty or missing, of a list', { KUBECONFIG: 'missing:empty' }, {}],
    ['is empty, and named by the flag', { KUBECONFIG: 'missing' }, { kubeconfig: 'empty' }],
    ['is not named at all', {}, {}],
  ])(
    'a kubeconfig that %s leaves it to the service account',
    (_, { KUBECONFIG }: { KUBECONFIG?: string }, flags: { kubeconfig?: string }) => {
      folder.write('empty', '')
      folder.write('unchosen', kubeconfig({ ...WHOLE, current: undefined }))
      const at = (name: string) => join(folder.path, name)
      const env = KUBECONFIG === undefined ? pod : { ...pod, KUBECONFIG: KUBECONFIG.split(':').map(at).join(':') }
      const options = flags.kubeconfig === undefined ? {} : { kubeconfig: at(flags.kubeconfig) }
      expect(resolve(options, env)).toMatchObject({
        server: SERVER,
        namespace: 'ci',
        user: { tokenFile: at(`${account}/token`) },
      })
      expect(failure(() => resolve(options, { ...env, KUBERNETES_SERVICE_HOST: '' })).name).toBe('KubeConfigError')
    },
  )

  test('a flag that names a missing file, or something of a file, does not', () => {
    const missing = join(folder.path, 'missing')
    expect(failure(() => resolve({ kubeconfig: missing }, pod)).message).toContain(`kubeconfig ${missing} cannot be read`)
    for (const options of [{ context: 'prod' }, { cluster: 'prod' }, { user: 'alice' }])
      expect(failure(() => resolve(options, { ...pod, KUBECONFIG: missing })).message).toContain('which does not exist')
  })

  test('the namespace is that of the pod, POD_NAMESPACE before its file, for a kubeconfig that names none too', () => {
    expect(resolve({}, { ...pod, POD_NAMESPACE: 'own' }).namespace).toBe('own')
    expect(resolve({ namespace: 'asked' }, { ...pod, POD_NAMESPACE: 'own' }).namespace).toBe('asked')
    folder.write('.kube/config', kubeconfig(WHOLE))
    const named = resolve({ context: 'prod' }, pod)
    expect(named.server).not.toBe(SERVER)
    expect([named.namespace, resolve({ context: 'dev' }, pod).namespace]).toEqual(['shop', 'ci'])
  })
})

test('without a kubeconfig, the service account of the pod is used', () => {
  const env = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' }
  expect(failure(() => resolve({}, env)).message).toContain('no cluster is configured')
  const account = 'var/run/secrets/kubernetes.io/serviceaccount'
  const tokenFile = folder.write(`${account}/token`, 't')
  folder.write(`${account}/namespace`, 'system\n')
  process.env['KUBERNETES_SERVICE_HOST'] = env.KUBERNETES_SERVICE_HOST
  process.env['KUBERNETES_SERVICE_PORT'] = env.KUBERNETES_SERVICE_PORT
  try {
    expect(resolve({}, env)).toMatchObject({ server: 'https://[fd00::1]:443', namespace: 'system', user: { tokenFile } })
  } finally {
    delete process.env['KUBERNETES_SERVICE_HOST']
    delete process.env['KUBERNETES_SERVICE_PORT']
  }
  expect(failure(() => resolve()).message).toContain('no cluster is configured')
})
