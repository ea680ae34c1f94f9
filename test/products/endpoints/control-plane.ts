import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent, fetch } from 'undici'
import { startKubernetes } from '../../../adapters/conformance/beds/kubernetes-process.ts'
import { findPort, startProduct } from '../../../adapters/conformance/beds/product-process.ts'

// oxlint-disable-next-line no-explicit-any
export type Json = any

/** An API server of both address families with the two controllers that make endpoints. */
export interface ControlPlane {
  /** Rejects where the answer is no success. */
  ask(method: string, path: string, body?: unknown): Promise<Json>
  /** What the controller manager tells Prometheus. */
  managerMetrics(): Promise<string>
  managerMetricsUrl: string
  /** The controller manager does nothing until it is thawed. */
  freezeManager(): void
  thawManager(): void
  /** The path of the kubeconfig of its admin. */
  kubeconfig: string
  stop(): Promise<void>
}

const CONNECTIONS = 8
/** Above what the tests write, so that the controllers do not wait. */
const REQUESTS_A_SECOND = '500'

/** `managerFlags`: of the controller manager, instead of these here or besides. */
export async function startControlPlane(programs: string, managerFlags: Record<string, string> = {}): Promise<ControlPlane> {
  const kubernetes = await startKubernetes({
    programs,
    rules: [],
    // No controller makes the accounts of pods here.
    flags: { 'service-cluster-ip-range': '10.96.0.0/16,fd00:96::/112', 'disable-admission-plugins': 'ServiceAccount' },
  })
  const folder = mkdtempSync(join(tmpdir(), 'sluice-endpoints-'))
  const kubeconfig = join(folder, 'admin.kubeconfig')
  const text = kubernetes.kubeconfig('admin')
  writeFileSync(kubeconfig, text)
  const { clusters, users } = JSON.parse(text) as {
    clusters: { cluster: { 'certificate-authority-data': string } }[]
    users: { user: { token: string } }[]
  }
  const ca = Buffer.from(clusters[0]!.cluster['certificate-authority-data'], 'base64')
  const agent = new Agent({ connect: { ca }, connections: CONNECTIONS })
  const { token } = users[0]!.user

  async function ask(method: string, path: string, body?: unknown): Promise<Json> {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
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

  const port = await findPort()
  const flags = {
    controllers: 'endpoints-controller,endpointslice-controller',
    'leader-elect': 'false',
    'secure-port': String(port),
    'bind-address': '127.0.0.1',
    'cert-dir': join(folder, 'certs'),
    kubeconfig,
    'authentication-kubeconfig': kubeconfig,
    'authorization-kubeconfig': kubeconfig,
    'kube-api-qps': REQUESTS_A_SECOND,
    'kube-api-burst': REQUESTS_A_SECOND,
    ...managerFlags,
  }
  async function release(): Promise<void> {
    await agent.destroy()
    await kubernetes.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  const health = new Agent({ connect: { rejectUnauthorized: false } })
  const manager = await startProduct({
    name: 'kube-controller-manager',
    program: join(programs, 'kube-controller-manager'),
    args: Object.entries(flags).map(([name, value]) => `--${name}=${value}`),
    endBy: 'SIGKILL',
    isReady: async () => (await fetch(`https://127.0.0.1:${port}/healthz`, { dispatcher: health })).ok,
  }).catch(async (error: unknown) => {
    await release()
    throw error
  })
  await health.destroy()

  const managerMetricsUrl = `https://127.0.0.1:${port}/metrics`
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
    managerMetrics,
    managerMetricsUrl,
    freezeManager: () => void process.kill(manager.pid(), 'SIGSTOP'),
    thawManager: () => void process.kill(manager.pid(), 'SIGCONT'),
    kubeconfig,
    async stop() {
      await manager.stop()
      await release()
    },
  }
}
