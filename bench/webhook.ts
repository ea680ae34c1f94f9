import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { issue, makeAuthority } from '../src/webhook/certificate/issue.ts'
import { chosenVersion } from '../test/cluster/kubernetes-versions.ts'
import { type Json, startControlPlane } from '../test/products/endpoints/control-plane.ts'
import { forEach } from '../test/products/endpoints/play.ts'
import { findKubernetes } from '../test/products/kubernetes.ts'
import { ALLOWED, applyConfiguration } from '../test/products/webhook/configuration.ts'
import { startWebhookProcess } from '../test/products/webhook/webhook-process.ts'
import { podsOf } from '../test/products/webhook/pods.ts'
import { buildSluice } from './built-sluice.ts'

/*
 * `npm run bench:webhook -- [--rate N] [--rounds N] [--seconds N] [--endpoints N]` updates EndpointSlices on a real API server: without a
 * webhook, through a webhook that does nothing, and through `sluice webhook serve` with the shipped rules and one that decides about each
 * tenth pod. The ways alternate, round by round.
 */

const { values } = parseArgs({
  options: {
    rate: { type: 'string', default: '200' },
    rounds: { type: 'string', default: '6' },
    seconds: { type: 'string', default: '5' },
    endpoints: { type: 'string', default: '20' },
  },
})
const [rate, rounds, seconds, endpoints] = [values.rate, values.rounds, values.seconds, values.endpoints].map(Number) as [
  number,
  number,
  number,
  number,
]
const GOAL = 2
const SLICES = 20
const WAYS = ['none', 'idle', 'shop'] as const
type Way = (typeof WAYS)[number]
const NAMES: Readonly<Record<Way, string>> = { none: 'no webhook', idle: 'a webhook that does nothing', shop: 'sluice webhook' }

const RULES = {
  apiVersion: 'sluice.dev/v1',
  kind: 'EndpointRules',
  rules: [
    { use: 'upgrading-not-ready' },
    { use: 'late-heartbeat', with: { within: '5m', floor: '50%' } },
    { use: 'container-does-not-count' },
    { name: 'tenth', when: "'tenth' in pod.metadata.labels", effect: 'notReady' },
  ],
}

const { program } = await findKubernetes(chosenVersion())
if (program === undefined) throw new Error('there is no Kubernetes')
const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-webhook-'))
const built = buildSluice()
const plane = await startControlPlane(program, { controllers: 'endpoints-controller' })
const stops: (() => unknown)[] = [() => plane.stop(), () => built.remove(), () => rmSync(folder, { recursive: true })]
try {
  await plane.ask('POST', '/api/v1/namespaces', { metadata: { name: 'sluice-webhook' } })
  for (const name of WAYS)
    await plane.ask('POST', '/api/v1/namespaces', { metadata: { name, ...(name === 'shop' && { labels: ALLOWED }) } })
  await plane.ask('POST', '/api/v1/nodes', { metadata: { name: 'node-a' } })
  const pods = podsOf(plane, 'shop', '10.40')
  await forEach(
    Array.from({ length: endpoints }, (_, index) => index),
    async (index) => void (await pods.makePod('web', index, index % 10 === 0 ? { tenth: 'yes' } : {})),
  )
  const made = ((await plane.ask('GET', '/api/v1/namespaces/shop/pods')) as { items: Json[] }).items

  const rulesFile = join(folder, 'rules.yaml')
  writeFileSync(rulesFile, JSON.stringify(RULES))
  const webhook = await startWebhookProcess({
    kubeconfig: plane.kubeconfig,
    namespaces: ['shop'],
    rules: rulesFile,
    args: [],
    script: built.script,
  })
  stops.unshift(() => webhook.stop())
  await applyConfiguration(plane, { url: webhook.url })
  await startIdleWebhook()
  for (const way of WAYS) for (let index = 0; index < SLICES; index++) await plane.ask('POST', at(way), sliceOf(way, index, true))
  await untilDecided()

  const latencies: Record<Way, number[]> = { none: [], idle: [], shop: [] }
  // The first round warms up.
  for (let round = 0; round <= rounds; round++)
    for (const way of WAYS) {
      const own = await update(way)
      if (round > 0) latencies[way].push(...own)
    }
  const quantile = (way: Way, q: number): number => {
    const sorted = latencies[way].toSorted((a, b) => a - b)
    return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))]!
  }
  for (const way of WAYS)
    console.log(
      `${NAMES[way].padEnd(28)} ${latencies[way].length} updates  p50 ${quantile(way, 0.5).toFixed(2)} ms  p99 ${quantile(way, 0.99).toFixed(2)} ms`,
    )
  const metrics = await webhook.metrics()
  for (const line of metrics.split('\n').filter((one) => one.startsWith('sluice_webhook_requests_total'))) console.log(line)
  const [p50, p99] = [quantile('shop', 0.5) / quantile('idle', 0.5), quantile('shop', 0.99) / quantile('idle', 0.99)]
  console.log(`ratio to a webhook that does nothing: p50 ${p50.toFixed(2)}, p99 ${p99.toFixed(2)} (goal: ${GOAL})`)
  if (p99 > GOAL) process.exitCode = 1

  function sliceOf(way: Way, index: number, isReady: boolean): Json {
    return {
      metadata: { name: `web-${index}`, namespace: way, labels: { 'kubernetes.io/service-name': 'web' } },
      addressType: 'IPv4',
      ports: [{ name: 'http', port: 8080 }],
      endpoints: made.map(({ metadata, status }) => ({
        addresses: [status.podIP],
        conditions: { ready: isReady, serving: isReady, terminating: false },
        nodeName: 'node-a',
        targetRef: { kind: 'Pod', namespace: 'shop', name: metadata.name, uid: metadata.uid },
      })),
    }
  }

  /** Sends updates at the rate, whatever the answers take. Returns the time of each, in milliseconds. */
  async function update(way: Way): Promise<number[]> {
    const taken: number[] = []
    const begun = performance.now()
    const sent: Promise<void>[] = []
    for (let index = 0; index < rate * seconds; index++) {
      const waitMs = begun + (index * 1000) / rate - performance.now()
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs))
      const body = sliceOf(way, index % SLICES, Math.floor(index / SLICES) % 2 === 0)
      const at0 = performance.now()
      sent.push(plane.ask('PUT', `${at(way)}/${body.metadata.name}`, body).then(() => void taken.push(performance.now() - at0)))
    }
    await Promise.all(sent)
    return taken
  }

  async function startIdleWebhook(): Promise<void> {
    const validity = { nowAt: Date.now(), validMs: 86_400_000 }
    const authority = await makeAuthority(validity)
    const { cert, key } = await issue(authority, ['127.0.0.1'], validity)
    const files = [join(folder, 'tls.crt'), join(folder, 'tls.key')] as const
    writeFileSync(files[0], cert)
    writeFileSync(files[1], key)
    const child = spawn(process.execPath, [join(import.meta.dirname, 'idle-webhook.ts'), ...files], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    stops.unshift(() => child.stdin.end())
    const [port] = (await once(createInterface(child.stdout), 'line')) as [string]
    await plane.ask('POST', '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations', {
      metadata: { name: 'idle' },
      webhooks: [
        {
          name: 'idle.sluice.example',
          admissionReviewVersions: ['v1'],
          sideEffects: 'None',
          failurePolicy: 'Ignore',
          timeoutSeconds: 2,
          namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'idle' } },
          clientConfig: { url: `https://127.0.0.1:${port}/`, caBundle: Buffer.from(authority.cert).toString('base64') },
          rules: [{ apiGroups: ['discovery.k8s.io'], apiVersions: ['v1'], operations: ['*'], resources: ['endpointslices'] }],
        },
      ],
    })
  }

  async function untilDecided(): Promise<void> {
    for (let index = 0; ; index++) {
      const stored = await plane.ask('PUT', `${at('shop')}/web-0`, sliceOf('shop', 0, index % 2 === 0))
      const notReady = (stored.endpoints as Json[]).filter(({ conditions }) => conditions.ready === false).length
      if (index % 2 === 0 && notReady === Math.ceil(endpoints / 10)) return
      if (index > 600) throw new Error('the API server does not ask the webhook')
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
} finally {
  for (const stop of stops) await stop()
}

function at(namespace: Way): string {
  return `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`
}
