import { afterAll, beforeAll, expect, test } from 'vitest'
import { findPort } from '../../adapters/conformance/beds/product-process.ts'
import { connect } from '../../src/index.ts'
import { systemClock, systemRandom } from '../../src/ports/system.ts'
import { parseRuleSet } from '../../src/webhook/rules/parse-rule-set.ts'
import type { RulesSource } from '../../src/webhook/sources/rules-source.ts'
import { startWebhook, type Webhook, type WebhookEvent } from '../../src/webhook/start-webhook.ts'
import { chosenVersion } from '../cluster/kubernetes-versions.ts'
import { type ControlPlane, type Json, startControlPlane } from './endpoints/control-plane.ts'
import { findKubernetes } from './kubernetes.ts'
import { describeOn } from './program.ts'
import { ALLOWED, applyConfiguration } from './webhook/configuration.ts'

/* Two replicas that rotate their own CA within seconds, while the API server asks both of them all the time. */

const LONG = { timeout: 90_000 }
const TURNS = 2
const RULES = parseRuleSet(
  JSON.stringify({
    apiVersion: 'sluice.dev/v1',
    kind: 'EndpointRules',
    rules: [{ name: 'all', when: 'true', effect: 'notReady' }],
  }),
  'rules',
)

describeOn(await findKubernetes(chosenVersion()), (programs) => {
  const stopping = new AbortController()
  const events: WebhookEvent[] = []
  let plane: ControlPlane
  let cluster: Awaited<ReturnType<typeof connect>>
  const replicas: Webhook[] = []

  beforeAll(async () => {
    plane = await startControlPlane(programs, { controllers: 'endpoints-controller' })
    await plane.ask('POST', '/api/v1/namespaces', { metadata: { name: 'sluice-webhook' } })
    await plane.ask('POST', '/api/v1/namespaces', { metadata: { name: 'shop', labels: ALLOWED } })
    cluster = await connect({ kubeconfig: plane.kubeconfig, namespace: 'sluice-webhook' })
  }, 60_000)
  afterAll(async () => {
    stopping.abort()
    await Promise.all(replicas.map(({ ended }) => ended))
    await cluster?.close()
    await plane?.stop()
  })

  async function start(identity: string): Promise<Webhook> {
    const rules = {
      current: () => RULES,
      problem: () => undefined,
      onChange: () => () => {},
      state: () => ({ rules: RULES, unconfirmedMs: 0 }),
    } as unknown as RulesSource
    const replica = await startWebhook({
      client: cluster.client,
      clock: systemClock,
      random: systemRandom,
      listen: `127.0.0.1:${await findPort()}`,
      namespaces: ['shop'],
      ownNamespace: 'sluice-webhook',
      certificate: {
        secret: 'sluice-webhook-certificate',
        configuration: 'sluice-webhook',
        names: ['127.0.0.1'],
        everyMs: 200,
        overlapMs: 2_000,
        authorityValidMs: 9_000,
        serverValidMs: 9_000,
      },
      lease: 'sluice-webhook',
      identity,
      rules,
      warningOf: ({ code }) => code,
      // The test and both replicas share a process, which is busy beside other tests.
      budgetMs: 60_000,
      busyMs: 60_000,
      leaveMs: 0,
      signal: stopping.signal,
      onEvent: (event) => events.push(event),
    })
    replicas.push(replica)
    return replica
  }

  test('an own CA is rotated under a stream of updates, and no update is unseen', LONG, async () => {
    const [one, other] = await Promise.all([start('one'), start('other')])
    const both = [one.url, other.url]
    await applyConfiguration(plane, { url: `${both[0]}/admit` })
    // Endpoints are asked about at one replica, EndpointSlices at the other one.
    const path = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/sluice-webhook'
    const configuration = await plane.ask('GET', path)
    const [webhook] = configuration.webhooks
    const of = (name: string, index: number): Json => ({
      ...webhook,
      name: `${name}.webhook.sluice.dev`,
      rules: [webhook.rules[index]],
      clientConfig: { url: `${both[index]}/admit` },
    })
    await plane.ask('PUT', path, { ...configuration, webhooks: [of('slices', 0), of('endpoints', 1)] })

    const slices = '/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices'
    const endpoints = '/api/v1/namespaces/shop/endpoints'
    let writes = 0
    async function writeBoth(): Promise<[boolean, boolean]> {
      const [ip, annotations] = [`10.0.0.${(writes++ % 200) + 1}`, { at: String(writes) }]
      const slice = { metadata: { name: 'web', annotations }, addressType: 'IPv4', endpoints: [{ addresses: [ip] }] }
      const object = { metadata: { name: 'web', annotations }, subsets: [{ addresses: [{ ip }], ports: [{ port: 80 }] }] }
      const write = (collection: string, body: Json): Promise<Json> =>
        plane.ask('PUT', `${collection}/web`, body).catch(() => plane.ask('POST', collection, body))
      const [first, second] = await Promise.all([write(slices, slice), write(endpoints, object)])
      return [first.endpoints[0].conditions.ready === false, second.subsets[0].notReadyAddresses?.length === 1]
    }
    await expect.poll(writeBoth, { timeout: 45_000, interval: 100 }).toEqual([true, true])

    const turns = (step: string): number =>
      events.filter((event) => event.type === 'certificates-rotated' && event.step === step).length
    const before = turns('drop-authorities')
    const unseen: [number, boolean, boolean][] = []
    const begun = writes
    while (turns('drop-authorities') < before + TURNS) {
      const [slice, object] = await writeBoth()
      if (!slice || !object) unseen.push([writes, slice, object])
    }
    expect(unseen).toEqual([])
    expect(writes - begun).toBeGreaterThan(200)
    expect(turns('add-authority')).toBeGreaterThanOrEqual(TURNS)
    expect(new Set(events.flatMap((event) => (event.type === 'certificate-in-use' ? [event.endsAt] : []))).size).toBeGreaterThan(
      TURNS,
    )
  })
})
