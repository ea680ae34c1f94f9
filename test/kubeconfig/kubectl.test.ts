import { execFile } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test as anyTest } from 'vitest'
import { connect } from '../../src/kube/connect.ts'
import { type ApiServer, type SeenRequest, startApiServer } from '../../src/kube/testing/api-server.ts'
import { makeCertificates, opensslMissing } from '../../src/kube/testing/certificates.ts'
import { type ConnectProxy, startConnectProxy } from '../../src/kube/testing/connect-proxy.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../../src/kube/testing/temporary-folder.ts'
import { systemClock, systemRandom } from '../../src/ports/system.ts'
import { findKubectl } from './find-kubectl.ts'
import { type Bed, type Case, CASES, V1 } from './table.ts'

const kubectl = await findKubectl()
if (kubectl === undefined) console.warn(`${CASES.length} kubeconfigs are not compared: there is neither Go nor a kubectl`)

// oxlint-disable-next-line vitest/expect-expect, vitest/valid-title -- it makes tests, and is none
const test = anyTest.skipIf(opensslMissing || kubectl === undefined)

let secure: ApiServer
let plain: ApiServer
/** Of a machine that has IPv6. */
let sixth: ApiServer | undefined
let proxy: ConnectProxy
let bed: Bed
let folder: TemporaryFolder
const cwd = process.cwd()

beforeAll(async () => {
  if (opensslMissing) return
  const certificates = makeCertificates()
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  secure = await startApiServer({ tls: { certificates } })
  plain = await startApiServer()
  sixth = await startApiServer({ tls: { certificates }, host: '::1' }).catch(() => undefined)
  if (sixth === undefined) console.warn('a server at an IPv6 address is not compared: the machine has none')
  proxy = await startConnectProxy()
  const { client, renewed, ca } = certificates
  bed = {
    server: secure.url,
    port: secure.port,
    plain: plain.url,
    // Without IPv6 both are refused.
    sixth: sixth?.url ?? 'https://[::1]:1',
    proxy: proxy.url,
    ca: base64(ca),
    cert: base64(client.cert),
    key: base64(client.key),
    otherKey: base64(renewed.key),
    pem: { ca, cert: client.cert, key: client.key },
    answer: (status, apiVersion = V1) => [`cat <<'END'\n${JSON.stringify({ apiVersion, kind: 'ExecCredential', status })}\nEND`],
  }
})
beforeEach(() => {
  folder = makeTemporaryFolder()
})
afterEach(() => {
  process.chdir(cwd)
  folder.remove()
})
afterAll(async () => {
  await secure?.close()
  await plain?.close()
  await sixth?.close()
  await proxy?.close()
})

interface Outcome {
  requests: object[]
  tunnels: number
  /** What it fails for; undefined where it does not. */
  failure: string | undefined
}

interface Answer {
  failure: string | undefined
  said: string
}

function kubectlFailure(said: string): string {
  if (said.includes('getting credentials: ')) return 'plugin'
  if (said.includes('x509: ')) return 'trust'
  // It asks this one where it has found no other.
  if (/connection refused|was refused|socks connect/.test(said) && !said.includes('localhost:8080')) return 'network'
  return 'kubeconfig'
}

function sluiceFailure({ name, message }: Error): string {
  if (message.startsWith('user u: credential plugin ')) return 'plugin'
  if (/certificate of .* is not signed|ERR_TLS_CERT_ALTNAME_INVALID/.test(message)) return 'trust'
  return name === 'KubeError' ? 'network' : 'kubeconfig'
}

/** What a way to ask for /version sends, and where. */
async function observe(ask: () => Promise<Answer>): Promise<Outcome & { said: string }> {
  secure.seen.length = plain.seen.length = proxy.tunnels.length = 0
  if (sixth !== undefined) sixth.seen.length = 0
  const { failure, said } = await ask()
  const requests = [
    ...secure.seen.map((seen) => request('https', seen)),
    ...plain.seen.map((seen) => request('http', seen)),
    ...(sixth?.seen ?? []).map((seen) => request('https by IPv6', seen)),
  ]
  return { requests, tunnels: proxy.tunnels.length, failure, said }
}

function request(scheme: string, { url, headers, rawHeaders, commonName, servername }: SeenRequest): object {
  const impersonated = rawHeaders.flatMap((name, index) =>
    index % 2 === 0 && /^impersonate-/i.test(name) ? [`${name.toLowerCase()}: ${rawHeaders[index + 1]}`] : [],
  )
  return {
    scheme,
    url,
    authorization: headers.authorization,
    commonName,
    servername: servername || undefined,
    impersonated: impersonated.toSorted(),
  }
}

function write({ files, links = {} }: Case): void {
  for (const [name, content] of Object.entries(files(bed))) {
    if (Array.isArray(content)) folder.script(name, content)
    else folder.write(name, content)
  }
  for (const [name, target] of Object.entries(links)) symlinkSync(target, join(folder.path, name))
}

const environment = ({ env }: Case): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  HOME: folder.path,
  KUBECONFIG: env ?? join(folder.path, 'config'),
})

function byKubectl(one: Case) {
  const flags = [...(one.flag ? ['--kubeconfig', one.flag] : []), ...(one.context ? ['--context', one.context] : [])]
  return new Promise<Answer>((resolve) => {
    const options = { cwd: folder.path, env: environment(one), timeout: 20_000 }
    const child = execFile(kubectl!, [...flags, 'get', '--raw', '/version'], options, (error, _out, stderr) =>
      resolve({ failure: error === null ? undefined : kubectlFailure(stderr), said: stderr }),
    )
    child.stdin?.end()
  })
}

async function bySluice(one: Case): Promise<Answer> {
  process.chdir(folder.path)
  try {
    const connection = await connect({
      kubeconfig: one.flag,
      context: one.context,
      clock: systemClock,
      random: systemRandom,
      surroundings: { env: environment(one), home: folder.path, serviceAccountRoot: folder.path },
    })
    try {
      await connection.client.get('/version')
    } finally {
      await connection.close()
    }
    return { failure: undefined, said: '' }
  } catch (error) {
    return { failure: sluiceFailure(error as Error), said: String(error) }
  }
}

test.for(CASES)('$name', async (one) => {
  write(one)
  const { said: kubectlSaid, ...expected } = await observe(() => byKubectl(one))
  const { said, ...found } = await observe(() => bySluice(one))
  const told = JSON.stringify({ kubectl: { ...expected, said: kubectlSaid }, sluice: { ...found, said } }, undefined, 2)
  // An exception that is none any more goes from the table.
  expect(isDeepStrictEqual(found, expected), told).toBe(one.exception === undefined)
})

test('the table has all kinds: some that are sent, some that are refused', async () => {
  expect(CASES.length).toBeGreaterThanOrEqual(50)
  expect(new Set(CASES.map(({ name }) => name)).size).toBe(CASES.length)
})

test('control: another token is a difference', async () => {
  const [one] = CASES as [Case]
  write(one)
  const { said: _, ...expected } = await observe(() => byKubectl(one))
  folder.write('config', JSON.stringify(one.files(bed)['config'] as object).replace('"token":"t"', '"token":"other"'))
  const { said: __, ...found } = await observe(() => bySluice(one))
  expect(found).not.toEqual(expected)
})
