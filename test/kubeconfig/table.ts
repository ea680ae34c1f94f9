/** Kubeconfigs of every kind, to be read by kubectl and by sluice. A file is YAML text, or an object, which is written as JSON. */
export interface Bed {
  server: string
  port: number
  plain: string
  /** At `[::1]`. */
  sixth: string
  proxy: string
  /** In base64. */
  ca: string
  cert: string
  key: string
  otherKey: string
  pem: { ca: string; cert: string; key: string }
  /** Shell lines of a plugin that answers so. */
  answer(status: object, apiVersion?: string): string[]
}

export interface Case {
  name: string
  /** By name; the first is KUBECONFIG, unless `env` or `flag` says otherwise. */
  files: (bed: Bed) => Record<string, string | object | string[]>
  /** KUBECONFIG. Relative: from the folder of the files. */
  env?: string
  /** Of `--kubeconfig`. */
  flag?: string
  context?: string
  /** Link name → target. */
  links?: Record<string, string>
  /** What sluice does otherwise than kubectl, and why. */
  exception?: string
}

export const V1 = 'client.authentication.k8s.io/v1'
export const V1BETA1 = 'client.authentication.k8s.io/v1beta1'

/** One cluster, one user, one context. */
function config(bed: Bed, user: object | null, cluster: object = {}, more: object = {}): object {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server: bed.server, 'certificate-authority-data': bed.ca, ...cluster } }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
    ...more,
  }
}

function yaml(bed: Bed, user: string, cluster = `server: ${bed.server}`, head = ''): string {
  return `${head}apiVersion: v1
kind: Config
clusters:
- name: c
  cluster:
    certificate-authority-data: ${bed.ca}
    ${cluster}
users:
- name: u
  user:
${user.replace(/^/gm, '    ')}
contexts:
- name: x
  context: {cluster: c, user: u}
current-context: x
`
}

const one = (name: string, user: object | null, cluster: object = {}, more: object = {}): Case => ({
  name,
  files: (bed) => ({ config: config(bed, user, cluster, more) }),
})
const written = (name: string, user: string, exception?: string): Case => ({
  name,
  files: (bed) => ({ config: yaml(bed, user) }),
  ...(exception === undefined ? {} : { exception }),
})
const plugin = (
  name: string,
  exec: object,
  lines: (bed: Bed) => string[] = (bed) => bed.answer({ token: 'from-plugin' }),
  user: object = {},
): Case => ({
  name: `exec: ${name}`,
  files: (bed) => ({
    config: config(bed, { ...user, exec: { apiVersion: V1, command: './plugin', interactiveMode: 'Never', ...exec } }),
    plugin: lines(bed),
  }),
})
const certificate = (bed: Bed) => ({ 'client-certificate-data': bed.cert, 'client-key-data': bed.key })
const folded = (text: string, indent: string) => text.replaceAll(/(.{60})/g, `$1\n${indent}`)

const ISSUER = { 'idp-issuer-url': 'https://localhost:1', 'client-id': 'c' }

function jwt(exp: number): string {
  return [{ alg: 'RS256' }, { sub: 'ann', exp }, {}]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
}

export const CASES: Case[] = [
  // Credentials
  one('a token', { token: 't' }),
  one('no credential', {}),
  one('a user that is null', null),
  one('a user name and a password', { username: 'ann', password: 'p:w' }),
  one('a user name alone', { username: 'ann' }),
  one('a token and a password', { token: 't', username: 'ann', password: 'p' }),
  { name: 'a client certificate in data', files: (bed) => ({ config: config(bed, certificate(bed)) }) },
  {
    name: 'a client certificate without its key',
    files: (bed) => ({ config: config(bed, { 'client-certificate-data': bed.cert }) }),
  },
  {
    name: 'a client certificate with the key of another',
    files: (bed) => ({ config: config(bed, { 'client-certificate-data': bed.cert, 'client-key-data': bed.otherKey }) }),
  },
  { name: 'a client certificate and a token', files: (bed) => ({ config: config(bed, { ...certificate(bed), token: 't' }) }) },
  {
    name: 'a client certificate as data and as a file',
    files: (bed) => ({ config: config(bed, { ...certificate(bed), 'client-certificate': 'a.crt' }), 'a.crt': bed.pem.cert }),
  },
  { name: 'a token file', files: (bed) => ({ config: config(bed, { tokenFile: 'token' }), token: 'from-file\n' }) },
  {
    name: 'a token file and a token',
    files: (bed) => ({ config: config(bed, { tokenFile: 'token', token: 't' }), token: 'from-file' }),
  },
  one('a token file that is missing, and a token', { tokenFile: 'none', token: 't' }),
  one('a token file that is missing', { tokenFile: 'none' }),
  {
    name: 'a token file that is empty',
    files: (bed) => ({ config: config(bed, { tokenFile: 'token' }), token: '' }),
  },
  one('a token with a line break inside', { token: 'a\nb' }),
  {
    ...one('a token that ends in a line break', { token: 't\n' }),
    exception: 'the token is clear, and the line break comes from a block scalar',
  },
  one('an unknown auth-provider', { 'auth-provider': { name: 'gcp' } }),
  one('an oidc token', { 'auth-provider': { name: 'oidc', config: { 'id-token': jwt(4e9), ...ISSUER } } }),
  one('an oidc token that has ended, and none to renew it', {
    'auth-provider': { name: 'oidc', config: { 'id-token': jwt(1e9), ...ISSUER } },
  }),
  {
    ...one('an oidc token without its issuer', { 'auth-provider': { name: 'oidc', config: { 'id-token': jwt(4e9) } } }),
    exception: 'the issuer is asked for a new token alone, and sluice renews none',
  },
  {
    ...one('an oidc token that is no JWT', { 'auth-provider': { name: 'oidc', config: { 'id-token': 'a.b.c', ...ISSUER } } }),
    exception: 'the API server judges the token',
  },
  one('a password and an exec plugin', {
    username: 'ann',
    password: 'p',
    exec: { apiVersion: V1, command: './none', interactiveMode: 'Never' },
  }),

  // Impersonation
  one('as', { token: 't', as: 'jane', 'as-uid': '7', 'as-groups': ['a', 'b'], 'as-user-extra': { Why: ['x', 'y'] } }),
  one('as-groups without as', { token: 't', 'as-groups': ['a'] }),
  one('as-groups that is a text', { token: 't', 'as-groups': 'a' }),

  // Clusters
  one('an unknown authority', { token: 't' }, { 'certificate-authority-data': undefined }),
  one('insecure-skip-tls-verify', { token: 't' }, { 'certificate-authority-data': undefined, 'insecure-skip-tls-verify': true }),
  one('insecure-skip-tls-verify beside an authority', { token: 't' }, { 'insecure-skip-tls-verify': true }),
  {
    name: 'an authority as data and as a file',
    files: (bed) => ({ config: config(bed, { token: 't' }, { 'certificate-authority': 'ca.crt' }), 'ca.crt': bed.pem.ca }),
  },
  one(
    'an authority file that is missing',
    { token: 't' },
    { 'certificate-authority-data': undefined, 'certificate-authority': 'none' },
  ),
  one('tls-server-name', { token: 't' }, { 'tls-server-name': 'localhost' }),
  one('a wrong tls-server-name', { token: 't' }, { 'tls-server-name': 'elsewhere' }),
  one(
    'disable-compression and extensions',
    { token: 't' },
    { 'disable-compression': true, extensions: [{ name: 'e', extension: { a: 1 } }] },
  ),
  { name: 'a server with a path', files: (bed) => ({ config: config(bed, { token: 't' }, { server: `${bed.server}/k8s/c1` }) }) },
  {
    name: 'a server with a path and a slash',
    files: (bed) => ({ config: config(bed, { token: 't' }, { server: `${bed.server}/k8s/` }) }),
  },
  { name: 'a server with a slash', files: (bed) => ({ config: config(bed, { token: 't' }, { server: `${bed.server}/` }) }) },
  {
    name: 'a server with a query',
    files: (bed) => ({ config: config(bed, { token: 't' }, { server: `${bed.server}/k8s?a=b` }) }),
  },
  { name: 'a server by an IPv6 address', files: (bed) => ({ config: config(bed, { token: 't' }, { server: bed.sixth }) }) },
  {
    name: 'a server by an IPv6 address, with a client certificate',
    files: (bed) => ({ config: config(bed, certificate(bed), { server: bed.sixth }) }),
  },
  {
    name: 'a server by a name',
    files: (bed) => ({ config: config(bed, { token: 't' }, { server: `https://localhost:${bed.port}` }) }),
  },
  {
    name: 'a server of plain http',
    files: (bed) => ({
      config: config(bed, { token: 't', as: 'jane' }, { server: bed.plain, 'certificate-authority-data': undefined }),
    }),
  },
  {
    name: 'a server without a scheme',
    files: (bed) => ({
      config: config(bed, { token: 't' }, { server: bed.plain.replace('http://', ''), 'certificate-authority-data': undefined }),
    }),
    exception: 'kubectl speaks plain HTTP then, and drops the credentials: https:// was forgotten',
  },
  one('a server that is empty', { token: 't' }, { server: '' }),
  { name: 'proxy-url', files: (bed) => ({ config: config(bed, { token: 't' }, { 'proxy-url': bed.proxy }) }) },
  {
    name: 'a proxy-url of socks5',
    files: (bed) => ({ config: config(bed, { token: 't' }, { 'proxy-url': bed.proxy.replace('http:', 'socks5:') }) }),
    exception: 'sluice speaks through HTTP proxies alone, and says so before it begins',
  },
  one('a proxy-url of an unknown kind', { token: 't' }, { 'proxy-url': 'ftp://proxy' }),
  one('a proxy-url that nobody listens at', { token: 't' }, { 'proxy-url': 'http://127.0.0.1:1' }),

  // Contexts
  one('no current context', { token: 't' }, {}, { 'current-context': undefined }),
  one('a current context that is empty', { token: 't' }, {}, { 'current-context': '' }),
  one('a current context that is not there', { token: 't' }, {}, { 'current-context': 'none' }),
  { ...one('a context by its name', { token: 't' }, {}, { 'current-context': 'none' }), context: 'x' },
  one('a context without a user', { token: 't' }, {}, { contexts: [{ name: 'x', context: { cluster: 'c' } }] }),
  one(
    'a context whose user is not there',
    { token: 't' },
    {},
    { contexts: [{ name: 'x', context: { cluster: 'c', user: 'v' } }] },
  ),
  one(
    'a context whose cluster is not there',
    { token: 't' },
    {},
    { contexts: [{ name: 'x', context: { cluster: 'd', user: 'u' } }] },
  ),
  one('null sections', { token: 't' }, {}, { contexts: null, users: null }),

  // Several files
  {
    name: 'two files: the first entry of a name counts, whole',
    files: (bed) => ({
      a: { users: [{ name: 'u', user: { token: 'first' } }] },
      b: config(bed, { token: 'second', as: 'jane' }),
    }),
    env: 'a:b',
  },
  {
    name: 'two files: the first current-context counts',
    files: (bed) => ({
      a: {
        contexts: [{ name: 'y', context: { cluster: 'c', user: 'v' } }],
        users: [{ name: 'v', user: { token: 'v' } }],
        'current-context': 'y',
      },
      b: config(bed, { token: 'second' }),
    }),
    env: 'a:b',
  },
  { name: 'a missing file in the list', files: (bed) => ({ b: config(bed, { token: 't' }) }), env: 'none:b::' },
  { name: 'all files are missing', files: () => ({}), env: 'none:none2' },
  { name: 'an empty file in the list', files: (bed) => ({ a: '', b: config(bed, { token: 't' }), c: '# c\n' }), env: 'a:c:b' },
  { name: 'a broken file in the list', files: (bed) => ({ a: config(bed, { token: 't' }), b: '{' }), env: 'a:b' },
  { name: 'an empty file', files: () => ({ config: '' }) },
  { name: 'a file that is a text', files: () => ({ config: 'text' }) },
  { name: 'a file that is a list', files: () => ({ config: '- a' }) },
  { name: '--kubeconfig', files: (bed) => ({ config: config(bed, { token: 't' }) }), flag: 'config', env: 'none' },

  // Paths
  {
    name: 'paths are relative to their file',
    files: (bed) => ({
      'sub/config': config(
        bed,
        { 'client-certificate': 'a.crt', 'client-key': '../a.key' },
        { 'certificate-authority-data': undefined, 'certificate-authority': './ca.crt' },
      ),
      'sub/ca.crt': bed.pem.ca,
      'sub/a.crt': bed.pem.cert,
      'a.key': bed.pem.key,
    }),
    env: 'sub/config',
  },
  {
    name: 'paths of several files',
    files: (bed) => ({
      'a/config': { users: [{ name: 'u', user: { tokenFile: 'token' } }] },
      'a/token': 'a',
      'b/config': config(bed, {}, { 'certificate-authority-data': undefined, 'certificate-authority': 'ca.crt' }),
      'b/ca.crt': bed.pem.ca,
    }),
    env: 'a/config:b/config',
  },
  {
    name: 'paths of a linked file are relative to the link',
    files: (bed) => ({ 'a/config': config(bed, { tokenFile: 'token' }), 'a/token': 'target', token: 'link' }),
    links: { config: 'a/config' },
    env: 'config',
  },
  { name: '~ in a path', files: (bed) => ({ config: config(bed, { tokenFile: '~/token' }), token: 'home' }), env: 'config' },
  {
    ...plugin('./ beside a file that is named without a folder', {}),
    env: 'config',
  },
  {
    name: 'exec: a path with a folder',
    files: (bed) => ({
      'a/config': config(bed, { exec: { apiVersion: V1, command: 'bin/p', interactiveMode: 'Never' } }),
      'a/bin/p': bed.answer({ token: 'in-folder' }),
    }),
    env: 'a/config',
  },
  plugin('a name without a slash is looked up in PATH alone', { command: 'plugin' }),

  // Plugins
  plugin('v1', {}),
  plugin('v1beta1', { apiVersion: V1BETA1, interactiveMode: undefined }, (bed) => bed.answer({ token: 'beta' }, V1BETA1)),
  plugin('v1 without interactiveMode', { interactiveMode: undefined }),
  plugin('an unknown apiVersion', { apiVersion: 'client.authentication.k8s.io/v9' }),
  plugin('no command', { command: '' }),
  plugin('an interactiveMode that is none', { interactiveMode: 'Perhaps' }),
  plugin('interactiveMode Always without a terminal', { interactiveMode: 'Always' }),
  plugin('an answer of another version', {}, (bed) => bed.answer({ token: 'x' }, V1BETA1)),
  plugin('args and env', { args: ['a b', 'c'], env: [{ name: 'OWN', value: 'd' }] }, () => [
    `printf '{"apiVersion":"${V1}","kind":"ExecCredential","status":{"token":"%s"}}' "$1-$2-$OWN" | tr ' ' _`,
  ]),
  plugin('a command is looked up in the PATH of kubectl, not in that of its env', {
    command: 'sh',
    args: ['-c', `echo '{"apiVersion":"${V1}","kind":"ExecCredential","status":{"token":"from-sh"}}'`],
    env: [{ name: 'PATH', value: '/none' }],
  }),
  plugin('env cannot replace KUBERNETES_EXEC_INFO', { env: [{ name: 'KUBERNETES_EXEC_INFO', value: 'own' }] }, () => [
    `case "$KUBERNETES_EXEC_INFO" in own) t=own;; *) t=given;; esac`,
    `echo '{"apiVersion":"${V1}","kind":"ExecCredential","status":{"token":"'$t'"}}'`,
  ]),
  plugin('provideClusterInfo', { provideClusterInfo: true }, () => [
    `case "$KUBERNETES_EXEC_INFO" in *certificate-authority-data*) t=cluster;; *) t=none;; esac`,
    `echo '{"apiVersion":"${V1}","kind":"ExecCredential","status":{"token":"'$t'"}}'`,
  ]),
  plugin('an answer in YAML', {}, () => [
    `printf 'apiVersion: ${V1}\\nkind: ExecCredential\\nstatus:\\n  token: yaml\\n  expirationTimestamp: 2099-01-01T00:00:00Z\\n'`,
  ]),
  plugin('a client certificate', {}, (bed) => bed.answer({ clientCertificateData: bed.pem.cert, clientKeyData: bed.pem.key })),
  plugin('a certificate without its key', {}, (bed) => bed.answer({ clientCertificateData: bed.pem.cert })),
  plugin('a time that has passed', {}, (bed) => bed.answer({ token: 'old', expirationTimestamp: '2001-01-01T00:00:00Z' })),
  plugin('a time that is none', {}, (bed) => bed.answer({ token: 'old', expirationTimestamp: 'soon' })),
  plugin('an empty status', {}, (bed) => bed.answer({})),
  plugin('no answer', {}, () => ['true']),
  plugin('a failure', {}, () => ['echo no session >&2', 'exit 3']),
  plugin('one that is not there', { command: './none', installHint: 'get it' }),
  plugin('beside a token', {}, undefined, { token: 't' }),
  plugin('beside an auth-provider', {}, undefined, { 'auth-provider': { name: 'oidc', config: {} } }),

  // YAML, as Go reads it
  { name: 'YAML', files: (bed) => ({ config: yaml(bed, 'token: t') }) },
  { name: 'line ends of Windows', files: (bed) => ({ config: yaml(bed, 'token: t').replaceAll('\n', '\r\n') }) },
  { name: 'a byte order mark', files: (bed) => ({ config: `\uFEFF${yaml(bed, 'token: t')}` }) },
  { name: 'JSON with tabs', files: (bed) => ({ config: JSON.stringify(config(bed, { token: 't' }), null, '\t') }) },
  { name: 'two documents', files: (bed) => ({ config: `${yaml(bed, 'token: first')}---\n${yaml(bed, 'token: second')}` }) },
  { name: 'an empty document before', files: (bed) => ({ config: `---\n---\n${yaml(bed, 'token: t')}` }) },
  written('an anchor', 'token: &a t\nas: *a'),
  written('a merge', '<<: {token: merged, as: jane}\ntoken: own'),
  written('a key that comes twice', 'token: first\ntoken: second'),
  written('unknown fields', 'token: t\nfavourite: blue'),
  written('a field in capitals', 'Token: t'),
  written('yes is a boolean', 'token: yes'),
  written('a quoted yes is a text', "token: 'yes'"),
  written('a number is no text', 'token: 123'),
  written('an octal number is no text', 'token: 0123'),
  written('a time is a text', 'token: 2020-01-02'),
  written('a number to the base of 60 is a text', 'token: 1:20'),
  written('null is nothing', 'token: null\nusername: ~'),
  written('!!str', 'token: !!str 123'),
  written('!!binary of a token', 'token: !!binary dA=='),
  written('!!binary that is none', 'token: !!binary "%"'),
  written('an unknown tag', 'token: !own t'),
  {
    name: 'insecure-skip-tls-verify: yes',
    files: (bed) => ({
      config: yaml(bed, 'token: t').replace(/certificate-authority-data: .*/, 'insecure-skip-tls-verify: yes'),
    }),
  },
  {
    name: 'insecure-skip-tls-verify: a text',
    files: (bed) => ({
      config: yaml(bed, 'token: t').replace(/certificate-authority-data: .*/, "insecure-skip-tls-verify: 'true'"),
    }),
  },
  {
    name: 'base64 with line breaks',
    files: (bed) => ({
      config: yaml(
        bed,
        `client-certificate-data: |\n  ${folded(bed.cert, '  ')}\nclient-key-data: |\n  ${folded(bed.key, '  ')}`,
      ),
    }),
  },
  {
    name: 'base64 with blanks',
    files: (bed) => ({
      config: yaml(bed, `client-certificate-data: >\n  ${folded(bed.cert, '  ')}\nclient-key-data: ${bed.key}`),
    }),
  },
  {
    name: '!!binary of base64',
    files: (bed) => ({
      config: yaml(
        bed,
        `client-certificate-data: ${bed.cert}\nclient-key-data: !!binary |\n  ${folded(Buffer.from(bed.key).toString('base64'), '  ')}`,
      ),
    }),
  },
  {
    name: '!!binary of PEM',
    files: (bed) => ({
      config: yaml(bed, `client-certificate-data: ${bed.cert}\nclient-key-data: !!binary |\n  ${folded(bed.key, '  ')}`),
    }),
  },
  written('base64 that is none', 'client-certificate-data: "%%%"\nclient-key-data: "%%%"'),
  one(
    'base64 that is none, of a user that is not used',
    { token: 't' },
    {},
    {
      users: [
        { name: 'u', user: { token: 't' } },
        { name: 'v', user: { 'client-key-data': '%' } },
      ],
    },
  ),
  one(
    'two users of one name',
    { token: 't' },
    {},
    {
      users: [
        { name: 'u', user: { token: 'a' } },
        { name: 'u', user: { token: 'b' } },
      ],
    },
  ),
  one('a null entry', { token: 't' }, {}, { users: [null, { name: 'u', user: { token: 'a' } }] }),
  one('no apiVersion and no kind', { token: 't' }, {}, { apiVersion: undefined, kind: undefined }),
  one('an apiVersion of another', { token: 't' }, {}, { apiVersion: 'v2' }),
  one('a kind of another', { token: 't' }, {}, { kind: 'List' }),
  one('preferences', { token: 't' }, {}, { preferences: { colors: true }, extensions: [] }),
  one(
    'a namespace that none can have',
    { token: 't' },
    {},
    { contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', namespace: 'A B' } }] },
  ),
]
