import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent, fetch } from 'undici'
import { startKubernetes } from '../../../adapters/conformance/beds/kubernetes-process.ts'
import { findPort, type ProductProcess, startProduct } from '../../../adapters/conformance/beds/product-process.ts'
import { type AuditEvent, type AuditFilter, auditPolicy, readAuditFile } from '../../cluster/audit.ts'

// oxlint-disable-next-line no-explicit-any
export type Json = any

/** An API server of both address families, with the two controllers that make endpoints. */
export interface ControlPlane {
  /** Sends a request. Rejects where the answer is no success. */
  ask(method: string, path: string, body?: unknown): Promise<Json>
  /** Sends a JSON patch. */
  patch(path: string, operations: readonly object[]): Promise<Json>
  /** Returns the metrics of the controller manager for Prometheus. */
  managerMetrics(): Promise<string>
  managerMetricsUrl: string
  /** Stops the controller manager until `thawManager`. */
  freezeManager(): void
  thawManager(): void
  /** Starts another controller manager in its place, which first syncs all Services. */
  replaceManager(managerFlags: Record<string, string>): Promise<void>
  /** Returns the requests that the API server has answered. */
  audit(filter?: AuditFilter): Promise<AuditEvent[]>
  /** The path of the kubeconfig of the administrator. */
  kubeconfig: string
  /** The URL of the API server. */
  url: string
  /** Sends a watch, and calls back with each event. Resolves at the end of the stream. */
  watch(path: string, signal: AbortSignal, onEvent: (event: Json) => void): Promise<void>
  /** Restarts the API server. The data stays. */
  restart(): Promise<void>
  /** Starts all programs anew at their addresses, without the data: versions of resources begin at 1 again. */
  wipe(): Promise<void>
  stop(): Promise<void>
}

const CONNECTIONS = 8
/** The rate is above the writes of the tests, so that the controllers do not wait. */
const REQUESTS_A_SECOND = '500'

/**
 * Starts the control plane. `managerFlags` override or extend the flags of the controller manager. Without `auditsBodies`, the audit log has
 * no objects: those of large Services are some gigabytes.
 */
export async function startControlPlane(
  programs: string,
  managerFlags: Record<string, string> = {},
  { auditsBodies = true } = {},
): Promise<ControlPlane> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-endpoints-'))
  const [auditLog, policy] = [join(folder, 'audit.log'), join(folder, 'audit-policy.json')]
  // The audit log also has the Endpoints that the controller has written.
  const bodies = { level: 'Request', verbs: ['update'], resources: [{ group: '', resources: ['endpoints'] }] }
  const rules = auditsBodies ? [bodies, ...auditPolicy.rules] : auditPolicy.rules
  writeFileSync(policy, JSON.stringify({ ...auditPolicy, rules }))
  const kubernetes = await startKubernetes({
    programs,
    // A restart is over once the user `reader` may read.
    rules: [{ apiGroups: [''], resources: ['services'], verbs: ['get'] }],
    flags: {
      'service-cluster-ip-range': '10.96.0.0/16,fd00:96::/112',
      // No controller makes the accounts of pods here.
      'disable-admission-plugins': 'ServiceAccount',
      'audit-log-path': auditLog,
      'audit-policy-file': policy,
      'audit-log-mode': 'blocking',
    },
  })
  const kubeconfig = join(folder, 'admin.kubeconfig')
  const text = kubernetes.kubeconfig('admin')
  writeFileSync(kubeconfig, text)
  const { clusters, users } = JSON.parse(text) as {
    clusters: { cluster: { 'certificate-authority-data': string } }[]
    users: { user: { token: string } }[]
  }
  const ca = Buffer.from(clusters[0]!.cluster['certificate-authority-data'], 'base64')
  const agent = new Agent({ connect: { ca }, connections: CONNECTIONS })
  const watching = new Agent({ connect: { ca }, bodyTimeout: 0 })
  const { token } = users[0]!.user

  function ask(method: string, path: string, body?: unknown): Promise<Json> {
    return send(method, path, body, method === 'PATCH' ? 'application/merge-patch+json' : 'application/json')
  }
  async function send(method: string, path: string, body: unknown, type: string): Promise<Json> {
    const answer = await fetch(`${kubernetes.url}${path}`, {
      method,
      dispatcher: agent,
      headers: { authorization: `Bearer ${token}`, 'content-type': type },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const said = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path} ${JSON.stringify(body)}: ${answer.status}: ${said}`)
    return said.startsWith('{') ? JSON.parse(said) : said
  }

  async function watch(path: string, signal: AbortSignal, onEvent: (event: Json) => void): Promise<void> {
    const headers = { authorization: `Bearer ${token}` }
    const answer = await fetch(`${kubernetes.url}${path}`, { dispatcher: watching, headers, signal })
    if (!answer.ok) throw new Error(`${path}: ${answer.status}: ${await answer.text()}`)
    const decoder = new TextDecoder()
    let rest = ''
    for await (const chunk of answer.body!) {
      const lines = (rest + decoder.decode(chunk as Uint8Array, { stream: true })).split('\n')
      rest = lines.pop()!
      for (const line of lines) onEvent(JSON.parse(line))
    }
  }

  const port = await findPort()
  const managerMetricsUrl = `https://127.0.0.1:${port}/metrics`
  const flags = {
    controllers: 'endpoints-controller,endpointslice-controller',
    'leader-elect': 'false',
    'secure-port': String(port),
    'bind-address': '127.0.0.1',
    'cert-dir': join(folder, 'certs'),
    kubeconfig,
    'authentication-kubeconfig': kubeconfig,
    'authorization-kubeconfig': kubeconfig,
    // For the controller that makes the tokens in Secrets, where it runs.
    'service-account-private-key-file': kubernetes.accountsKey,
    'kube-api-qps': REQUESTS_A_SECOND,
    'kube-api-burst': REQUESTS_A_SECOND,
  }
  const health = new Agent({ connect: { rejectUnauthorized: false } })
  async function release(): Promise<void> {
    await Promise.all([agent.destroy(), watching.destroy(), health.destroy()])
    await kubernetes.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  const startManager = (own: Record<string, string>): Promise<ProductProcess> =>
    startProduct({
      name: 'kube-controller-manager',
      program: join(programs, 'kube-controller-manager'),
      args: Object.entries({ ...flags, ...own }).map(([name, value]) => `--${name}=${value}`),
      endBy: 'SIGKILL',
      isReady: async () => (await fetch(`https://127.0.0.1:${port}/healthz`, { dispatcher: health })).ok,
    })
  let manager = await startManager(managerFlags).catch(async (error: unknown) => {
    await release()
    throw error
  })

  async function managerMetrics(): Promise<string> {
    const dispatcher = new Agent({ connect: { rejectUnauthorized: false } })
    const headers = { authorization: `Bearer ${token}` }
    const answer = await fetch(managerMetricsUrl, { dispatcher, headers })
    const said = await answer.text()
    await dispatcher.destroy()
    if (!answer.ok) throw new Error(`metrics of the controller manager: ${answer.status}: ${said}`)
    return said
  }

  return {
    ask,
    patch: (path, operations) => send('PATCH', path, operations, 'application/json-patch+json'),
    managerMetrics,
    managerMetricsUrl,
    freezeManager: () => void process.kill(manager.pid(), 'SIGSTOP'),
    thawManager: () => void process.kill(manager.pid(), 'SIGCONT'),
    async replaceManager(own) {
      await manager.stop()
      manager = await startManager(own)
    },
    audit: (filter) => readAuditFile(auditLog, filter),
    kubeconfig,
    url: kubernetes.url,
    watch,
    restart: () => kubernetes.restart(),
    async wipe() {
      await manager.stop()
      await kubernetes.wipe()
      manager = await startManager(managerFlags)
    },
    async stop() {
      await manager.stop()
      await release()
    },
  }
}
