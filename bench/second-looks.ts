import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { chosenVersion } from '../test/cluster/kubernetes-versions.ts'
import { startControlPlane } from '../test/products/endpoints/control-plane.ts'
import { forEach } from '../test/products/endpoints/play.ts'
import { findKubernetes } from '../test/products/kubernetes.ts'
import { ALLOWED, applyConfiguration } from '../test/products/webhook/configuration.ts'
import { BY_LABEL, EFFECTS, seenWith, rulesOf } from '../test/products/webhook/effects.ts'
import { startWebhookProcess, type WebhookProcess } from '../test/products/webhook/webhook-process.ts'
import { type Pods, podsOf } from '../test/products/webhook/pods.ts'

/*
 * `npm run bench:looks -- [--sizes 1,150,1200] [--effects LIST] [--idle SECONDS] [--share PERCENT] [--script FILE]` has a rule for each effect act on Services
 * of so many pods, on a real API server with the real controllers of endpoints, beside equal Services in a namespace without the webhook.
 * Every second pod is one that the rule decides about; the pods come up while the Service is there, and then ten of them turn three times.
 * With `--share`, the webhook gets this share of the time alone until all is right, as on a busy machine.
 * It prints when readers of slices and of Endpoints see what the rules want, the writes of both namespaces, and those of an idle cluster.
 */

const { values } = parseArgs({
  options: {
    sizes: { type: 'string', default: '1,150,1200' },
    effects: { type: 'string', default: EFFECTS.join() },
    idle: { type: 'string', default: '180' },
    within: { type: 'string', default: '180' },
    share: { type: 'string', default: '100' },
    script: { type: 'string' },
  },
})
const sizes = values.sizes.split(',').map(Number)
const effects = EFFECTS.filter((effect) => values.effects.split(',').includes(effect))
const [idleMs, withinMs, share] = [Number(values.idle) * 1_000, Number(values.within) * 1_000, Number(values.share)]
const WRITES = { verb: ['create', 'update', 'patch', 'delete'] }
const KINDS = ['endpointslices', 'endpoints'] as const

const { program } = await findKubernetes(chosenVersion())
if (program === undefined) throw new Error('there is no Kubernetes')
const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-looks-'))
const plane = await startControlPlane(program, {}, { auditsBodies: false })
const stops: (() => unknown)[] = [() => plane.stop(), () => rmSync(folder, { recursive: true })]
try {
  await plane.ask('POST', '/api/v1/namespaces', { metadata: { name: 'sluice-webhook' } })
  await plane.ask('POST', '/api/v1/namespaces', { metadata: { name: 'shop', labels: ALLOWED } })
  await plane.ask('POST', '/api/v1/namespaces', { metadata: { name: 'plain' } })
  await plane.ask('POST', '/api/v1/nodes', { metadata: { name: 'node-a' } })
  const rules = join(folder, 'rules.yaml')
  writeFileSync(`${rules}.next`, rulesOf('v1', BY_LABEL))
  renameSync(`${rules}.next`, rules)
  const webhook = await startWebhookProcess({
    kubeconfig: plane.kubeconfig,
    namespaces: ['shop'],
    rules,
    args: [],
    ...(values.script && { script: values.script }),
  })
  stops.unshift(() => webhook.stop())
  await applyConfiguration(plane, { url: webhook.url })
  await untilSo(() => webhook.lines().findLast(({ msg }) => msg === 'Leader')?.isLeader === true, 60_000)
  const [shop, plain] = [podsOf(plane, 'shop', '10.20'), podsOf(plane, 'plain', '10.120')]

  /** The writes of the objects of a Service: by the controllers in both namespaces, and by second looks. */
  async function writesOf(service: string, since: number): Promise<Record<string, number>> {
    const counts: Record<string, number> = {}
    for (const namespace of ['shop', 'plain'])
      for (const { objectRef, userAgent = '', verb } of await plane.audit({ ...WRITES, namespace, since })) {
        const { resource = '', name = '' } = objectRef ?? {}
        if (![...KINDS, 'services'].includes(resource)) continue
        // The name of a new slice is made by the API server.
        if (name !== service && !name.startsWith(`${service}-`) && name !== '') continue
        const isByController = userAgent.startsWith('kube-controller-manager')
        if (!isByController && verb !== 'patch') continue
        const key = isByController ? `${namespace} ${resource}` : 'second looks'
        counts[key] = (counts[key] ?? 0) + 1
      }
    return counts
  }

  for (const size of sizes)
    for (const effect of effects) {
      const service = `${effect.toLowerCase()}-${size}`
      const since = Date.now()
      for (const one of [shop, plain]) await one.makeService(service)
      const slowed = slow(webhook)
      const places = Array.from({ length: size }, (_, place) => place)
      await Promise.all(
        [shop, plain].map((of) =>
          forEach(places, async (place) => void (await of.makePod(service, place, place % 2 === 0 ? { effect } : {}))),
        ),
      )
      const turned = places.slice(0, 10)
      for (const isReady of [false, true, false])
        for (const place of turned) for (const one of [shop, plain]) await one.setReady(`${service}-${place}`, isReady)
      const turnedAt = Date.now()
      const found = await settle(shop, service, places, (place) => seenWith(effect, place % 2 === 0, place >= turned.length))
      await slowed.end()
      const counts = await writesOf(service, since)
      const touches = webhook.lines().filter((line) => line.code === 'touched' && line.service === service)
      const ways = (way: string): number => touches.filter((line) => line.way === way).length
      console.log(
        JSON.stringify({
          size,
          effect,
          rightAfterMs: found.at && found.at - turnedAt,
          wrong: found.wrong,
          counts,
          touches: { object: ways('object'), service: ways('service') },
        }),
      )
      if (found.at === undefined) {
        const lines = webhook.lines().filter((line) => line.service === service || line.level >= 40)
        for (const line of lines.slice(-30)) console.log(JSON.stringify(line).slice(0, 300))
      }
    }
  // The last touch may be due still.
  await new Promise((resolve) => setTimeout(resolve, 15_000))
  const sinceAt = Date.now()
  await new Promise((resolve) => setTimeout(resolve, idleMs))
  const idle = await Promise.all(
    ['shop', 'plain'].map(async (namespace) => {
      const some = await plane.audit({ ...WRITES, namespace, since: sinceAt })
      return some.filter(({ objectRef }) => [...KINDS, 'services'].includes(objectRef?.resource ?? '')).length
    }),
  )
  console.log(JSON.stringify({ idleMs, idleWrites: { shop: idle[0], plain: idle[1] } }))
  for (const line of (await webhook.metrics())
    .split('\n')
    .filter((one) => /^sluice_webhook_(requests_total|.*touches)/.test(one)))
    console.log(line)
} finally {
  for (const stop of stops) await stop()
}

interface Settled {
  /** When all was right. */
  at?: number
  wrong: Record<string, number>
}

/** Waits until readers of both kinds see what the rules want. */
async function settle(
  pods: Pods,
  service: string,
  places: readonly number[],
  wanted: (place: number) => string,
): Promise<Settled> {
  const limitAt = Date.now() + withinMs
  for (;;) {
    const { slices, endpoints } = await pods.endpoints(service)
    const at = Date.now()
    const ready = new Set(endpoints.ready)
    const notReady = new Set(endpoints.notReady)
    const wrong = { slices: 0, endpoints: 0 }
    for (const place of places) {
      const name = `${service}-${place}`
      const state = wanted(place)
      const { ready: isReady, serving: isServing } = slices[name] ?? {}
      if (slices[name] === undefined || `${isReady} ${isServing}` !== state) wrong.slices += 1
      // Endpoints have room for 1,000 addresses.
      const has = ready.has(name) ? 'true' : notReady.has(name) ? 'false' : undefined
      if (has !== undefined && has !== state.split(' ')[0]) wrong.endpoints += 1
    }
    if (wrong.slices + wrong.endpoints === 0) return { at, wrong }
    if (at > limitAt) return { wrong }
    await new Promise((resolve) => setTimeout(resolve, 250))
  }
}

/** Stops the webhook for a part of each 100 ms. */
function slow(webhook: WebhookProcess): { end(): Promise<void> } {
  const over = new AbortController()
  if (share === 100) over.abort()
  async function run(): Promise<void> {
    while (!over.signal.aborted) {
      webhook.signal('SIGSTOP')
      await new Promise((resolve) => setTimeout(resolve, 100 - share))
      webhook.signal('SIGCONT')
      await new Promise((resolve) => setTimeout(resolve, share))
    }
  }
  const running = run()
  return {
    async end() {
      over.abort()
      await running
    },
  }
}

async function untilSo(isSo: () => boolean, limitMs: number): Promise<void> {
  const end = Date.now() + limitMs
  while (!isSo()) {
    if (Date.now() > end) throw new Error('the webhook does not lead')
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
