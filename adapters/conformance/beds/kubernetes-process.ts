/** A real API server of Kubernetes with its etcd, in its own folder. No other component and no pod runs there. */
import { generateKeyPairSync } from 'node:crypto'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import type { IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { waitUntil } from './haproxy-process.ts'
import { findPort, startProduct } from './product-process.ts'

const USERS = ['admin', 'sluice', 'reader', 'stranger'] as const
/** The users. `sluice` has the given rights. `reader` has the same rights for reads, and changes nothing. `stranger` has no rights. */
export type User = (typeof USERS)[number]

export interface KubernetesProcess {
  url: string
  /** The file of the key that signs tokens of service accounts. */
  accountsKey: string
  /** The kubeconfig as JSON, which is also YAML. With `server`, it has that URL and no user. */
  kubeconfig(user: User, server?: string): string
  /** Calls the API as admin. Rejects if the answer is not a success. */
  ask(method: string, path: string, body?: unknown): Promise<unknown>
  /** Calls the API and gives the head of the answer. The caller reads or forwards the body. */
  open(user: User, method: string, path: string, body?: string | Buffer): Promise<IncomingMessage>
  /** Restarts the API server. The data stays in etcd. */
  restart(): Promise<void>
  /** Starts both programs anew at their addresses, without the data. Versions of resources begin at 1 again. */
  wipe(): Promise<void>
  /** Keeps a copy of the data. etcd is away for a moment. */
  backUp(): Promise<void>
  /** Starts both programs anew at their addresses, with the data of the last copy: versions of resources go back. */
  restore(): Promise<void>
  stop(): Promise<void>
}

export interface KubernetesOptions {
  /** The folder of the programs kube-apiserver and etcd. */
  programs: string
  /** The rules of the ClusterRole of the user `sluice`. The user `reader` has them without `update`. */
  rules: readonly Rule[]
  /** Flags of kube-apiserver by name. They add to the default flags or replace them. */
  flags?: Readonly<Record<string, string>>
}

export interface Rule {
  apiGroups: string[]
  resources: string[]
  verbs: string[]
}

function flags(values: Record<string, string>): string[] {
  return Object.entries(values).map(([name, value]) => `--${name}=${value}`)
}

export async function startKubernetes({ programs, rules, flags: more = {} }: KubernetesOptions): Promise<KubernetesProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-kubernetes-'))
  const [clients, peers, port] = [await findPort(), await findPort(), await findPort()]
  const [etcdUrl, url] = [`http://127.0.0.1:${clients}`, `https://127.0.0.1:${port}`]
  const at = (name: string): string => join(folder, name)
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  writeFileSync(at('accounts.key'), privateKey.export({ type: 'pkcs8', format: 'pem' }))
  const groups = (user: User): string => (user === 'admin' ? ',"system:masters"' : '')
  writeFileSync(at('tokens.csv'), USERS.map((user) => `token-of-${user},${user},${user}${groups(user)}\n`).join(''))

  // The API server signs its certificate with its own authority, which is in the same file.
  const authority = (): Buffer => readFileSync(at('certs/apiserver.crt'))

  function open(user: User, method: string, path: string, body?: string | Buffer): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer token-of-${user}`, 'content-type': 'application/json' }
      const sent = request(`${url}${path}`, { method, headers, agent: false, ca: authority() }, resolve)
      sent.once('error', reject)
      sent.end(body)
    })
  }
  async function ask(method: string, path: string, body?: unknown): Promise<unknown> {
    const answer = await open('admin', method, path, body === undefined ? undefined : JSON.stringify(body))
    const text = (await answer.toArray()).join('')
    if (answer.statusCode! >= 300) throw new Error(`${method} ${path}: ${answer.statusCode}: ${text}`)
    return text.startsWith('{') ? JSON.parse(text) : text
  }

  const etcd = await startProduct({
    name: 'etcd',
    program: join(programs, 'etcd'),
    args: flags({
      'data-dir': at('etcd'),
      'unsafe-no-fsync': 'true',
      'log-level': 'warn',
      'listen-client-urls': etcdUrl,
      'advertise-client-urls': etcdUrl,
      'listen-peer-urls': `http://127.0.0.1:${peers}`,
    }),
    endBy: 'SIGKILL',
    isReady: async () => (await fetch(`${etcdUrl}/health`)).ok,
  })
  const server = await startProduct({
    name: 'kube-apiserver',
    program: join(programs, 'kube-apiserver'),
    args: flags({
      'etcd-servers': etcdUrl,
      'secure-port': String(port),
      'bind-address': '127.0.0.1',
      'advertise-address': '127.0.0.1',
      'endpoint-reconciler-type': 'none',
      'cert-dir': at('certs'),
      'token-auth-file': at('tokens.csv'),
      'authorization-mode': 'RBAC',
      'service-account-issuer': 'https://kubernetes.default.svc',
      'service-account-key-file': at('accounts.key'),
      'service-account-signing-key-file': at('accounts.key'),
      'service-cluster-ip-range': '10.96.0.0/16',
      ...more,
    }),
    // An orderly end waits for open watches.
    endBy: 'SIGKILL',
    isReady: async () => (await ask('GET', '/readyz')) === 'ok',
  }).catch(async (error: unknown) => {
    await etcd.stop()
    throw error
  })

  async function grant(): Promise<void> {
    for (const user of ['sluice', 'reader'] as const) {
      const own =
        user === 'sluice' ? rules : rules.map((rule) => ({ ...rule, verbs: rule.verbs.filter((verb) => verb !== 'update') }))
      const [metadata, apiGroup] = [{ name: user }, 'rbac.authorization.k8s.io']
      await ask('POST', `/apis/${apiGroup}/v1/clusterroles`, { metadata, rules: own.filter(({ verbs }) => verbs.length > 0) })
      const roleRef = { apiGroup, kind: 'ClusterRole', name: user }
      const subjects = [{ apiGroup, kind: 'User', name: user }]
      await ask('POST', `/apis/${apiGroup}/v1/clusterrolebindings`, { metadata, roleRef, subjects })
    }
  }
  await grant()

  return {
    url,
    accountsKey: at('accounts.key'),
    kubeconfig(user, other) {
      const cluster =
        other === undefined ? { server: url, 'certificate-authority-data': authority().toString('base64') } : { server: other }
      const context = { cluster: 'edge', ...(other === undefined ? { user } : {}) }
      return JSON.stringify({
        apiVersion: 'v1',
        kind: 'Config',
        'current-context': 'edge',
        clusters: [{ name: 'edge', cluster }],
        users: other === undefined ? [{ name: user, user: { token: `token-of-${user}` } }] : [],
        contexts: [{ name: 'edge', context }],
      })
    },
    ask,
    open,
    async restart() {
      await server.restart()
      // The API server loads its RBAC rules a moment after it is ready.
      await waitUntil(async () => {
        const answer = await open('reader', 'GET', '/api/v1/namespaces/default/services/kubernetes')
        answer.resume()
        return answer.statusCode !== 403
      }, 'the API server knows its rules')
    },
    async wipe() {
      await server.stop()
      await etcd.stop()
      rmSync(at('etcd'), { recursive: true, force: true })
      await etcd.restart()
      await server.restart()
      await grant()
    },
    async backUp() {
      await etcd.stop()
      rmSync(at('backup'), { recursive: true, force: true })
      cpSync(at('etcd'), at('backup'), { recursive: true })
      await etcd.restart()
    },
    async restore() {
      await server.stop()
      await etcd.stop()
      rmSync(at('etcd'), { recursive: true, force: true })
      cpSync(at('backup'), at('etcd'), { recursive: true })
      await etcd.restart()
      await server.restart()
    },
    async stop() {
      await server.stop()
      await etcd.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
