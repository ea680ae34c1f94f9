import { execFileSync } from 'node:child_process'
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent, fetch } from 'undici'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { chosenVersion } from '../cluster/kubernetes-versions.ts'
import { type ControlPlane, type Json, startControlPlane } from './endpoints/control-plane.ts'
import { findKubernetes } from './kubernetes.ts'
import { describeOn } from './program.ts'
import { ALLOWED, applyConfiguration } from './webhook/configuration.ts'
import { type Pods, podsOf } from './webhook/pods.ts'
import { startWebhookProcess, type WebhookProcess, type WebhookProcessOptions } from './webhook/webhook-process.ts'

/*
 * `sluice webhook serve` on a real API server with the real controllers of endpoints, by the configuration of deploy/webhook. The test
 * writes the status of pods as kubelets do.
 */

const LONG = { timeout: 90_000 }
const WITHIN = { timeout: 30_000, interval: 100 }
const SLICES = '/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices'

const EFFECTS = ['ready', 'notReady', 'serving', 'remove'] as const
/** A rule for each effect, by a label of the pod. */
function rulesOf(version: string, more: readonly object[] = []): string {
  const byLabel = EFFECTS.map((effect) => ({
    name: effect.toLowerCase(),
    when: `'effect' in pod.metadata.labels && pod.metadata.labels['effect'] == '${effect}'`,
    effect,
  }))
  const keeps = {
    name: 'keep',
    when: `'effect' in pod.metadata.labels && pod.metadata.labels['effect'] == 'keepPrevious'`,
    effect: 'keepPrevious',
    since: "condition(pod, 'Ready').lastTransitionTime",
    for: '1h',
  }
  const rules = [...more, ...byLabel, keeps]
  return JSON.stringify({ apiVersion: 'sluice.dev/v1', kind: 'EndpointRules', metadata: { version }, rules })
}

describeOn(await findKubernetes(chosenVersion()), (programs) => {
  let plane: ControlPlane
  let pods: Pods
  let folder: string
  let file: string
  let webhook: WebhookProcess | undefined

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-webhook-'))
    file = join(folder, 'rules.yaml')
    plane = await startControlPlane(programs)
    await plane.ask('POST', '/api/v1/namespaces', { metadata: { name: 'sluice-webhook' } })
    await plane.ask('POST', '/api/v1/namespaces', { metadata: { name: 'shop', labels: ALLOWED } })
    await plane.ask('PATCH', '/api/v1/namespaces/default', { metadata: { labels: ALLOWED } })
    await plane.ask('POST', '/api/v1/nodes', { metadata: { name: 'node-a' } })
    pods = podsOf(plane, 'shop', '10.20')
  }, 90_000)
  afterEach(async () => {
    await webhook?.stop()
    webhook = undefined
  })
  afterAll(async () => {
    await plane?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  function writeRules(text: string): void {
    writeFileSync(`${file}.next`, text)
    renameSync(`${file}.next`, file)
  }

  async function start(options: Partial<WebhookProcessOptions> = {}, rules = rulesOf('v1')): Promise<WebhookProcess> {
    writeRules(rules)
    webhook = await startWebhookProcess({
      kubeconfig: plane.kubeconfig,
      namespaces: ['shop', 'default'],
      rules: file,
      ...options,
    })
    await applyConfiguration(plane, { url: webhook.url })
    if (options.awaitsReady !== false) await isAsked()
    return webhook
  }

  let asked = 0
  /** Waits until the API server asks the webhook, with a certificate that it trusts. */
  async function isAsked(): Promise<void> {
    await expect
      .poll(async () => (await writeSlice(`asked-${asked++}`, 1)).metadata.annotations?.['sluice.dev/decision'], WITHIN)
      .toBeDefined()
  }

  function sliceOf(name: string, count: number): Json {
    const endpoints = Array.from({ length: count }, (_, index) => ({
      addresses: [`10.30.0.${index + 1}`],
      conditions: { ready: true, serving: true },
      // A pod that is not there: rules about pods fail, and a rule about the address decides.
      targetRef: {
        kind: 'Pod',
        namespace: 'shop',
        name: `none-${index}`,
        uid: `00000000-0000-4000-8000-0000000000${index + 10}`,
      },
    }))
    return {
      metadata: { name, labels: { 'kubernetes.io/service-name': 'by-hand' } },
      addressType: 'IPv4',
      ports: [{ name: 'http', port: 8080 }],
      endpoints,
    }
  }

  /** Writes a slice as a program without a controller does. The Service asks for explanations. */
  async function writeSlice(name: string, count: number): Promise<Json> {
    await plane
      .ask('POST', '/api/v1/namespaces/shop/services', {
        metadata: { name: 'by-hand', annotations: { 'sluice.dev/explain': 'true' } },
        spec: { ports: [{ name: 'http', port: 80 }] },
      })
      .catch(() => undefined)
    return plane.ask('POST', SLICES, sliceOf(name, count))
  }

  test('each effect, on both kinds, through the controllers', LONG, async () => {
    const name = 'effects'
    await start()
    await pods.makeService(name, { 'sluice.dev/explain': 'true' })
    const kinds = [...EFFECTS, 'keepPrevious', 'none'] as const
    for (const [place, effect] of kinds.entries()) await pods.makePod(name, place, { effect })
    const isReady = (ready: boolean, serving: boolean): Json => expect.objectContaining({ ready, serving })
    await expect
      .poll(() => pods.endpoints(name), WITHIN)
      .toEqual({
        slices: {
          'effects-0': isReady(true, true),
          'effects-1': isReady(false, false),
          'effects-2': isReady(false, true),
          // The controller would make another slice for it.
          'effects-3': isReady(false, false),
          'effects-4': isReady(true, true),
          'effects-5': isReady(true, true),
        },
        endpoints: { ready: ['effects-0', 'effects-4', 'effects-5'], notReady: ['effects-1', 'effects-2'] },
      })
    for (const place of [0, 4, 5]) await pods.setReady(`effects-${place}`, false)
    await expect
      .poll(() => pods.endpoints(name), WITHIN)
      .toMatchObject({
        slices: { 'effects-0': isReady(true, true), 'effects-4': isReady(true, true), 'effects-5': isReady(false, false) },
        endpoints: { ready: ['effects-0', 'effects-4'], notReady: ['effects-1', 'effects-2', 'effects-5'] },
      })
    const { metadata } = await plane.ask('GET', `/api/v1/namespaces/shop/endpoints/${name}`)
    expect(metadata.annotations['sluice.dev/decision']).toMatch(
      /^v1: keep=keepPrevious 10\.20\.0\.\d+; notready=notReady .*; ready=ready/,
    )
    expect(webhook!.lines()).toContainEqual(
      expect.objectContaining({ msg: 'Decided', result: 'changed', ruleSet: 'v1', kind: 'EndpointSlice', service: name }),
    )
    const metrics = await webhook!.metrics()
    expect(metrics).toMatch(/sluice_webhook_decisions_total\{rule="notready",rule_effect="notReady"\} [1-9]/)
    expect(metrics).toContain('sluice_webhook_rules_accepted_timestamp_seconds{version="v1"}')
  })

  /** Both kinds follow a pod, in each direction. */
  async function followsWithin(name: string): Promise<void> {
    await pods.makeService(name)
    await pods.makePod(name, 0)
    await expect.poll(async () => (await pods.endpoints(name)).endpoints.ready, WITHIN).toEqual([`${name}-0`])
    await pods.setReady(`${name}-0`, false)
    await expect
      .poll(() => pods.endpoints(name), WITHIN)
      .toMatchObject({
        slices: { [`${name}-0`]: { ready: false } },
        endpoints: { ready: [], notReady: [`${name}-0`] },
      })
  }

  const ANY = { name: 'any', when: 'true', effect: 'notReady' }

  test('the cluster goes on without the webhook: killed, hung, or with another certificate', LONG, async () => {
    const running = await start({}, rulesOf('v1', [ANY]))
    running.signal('SIGSTOP')
    await followsWithin('hung')
    running.signal('SIGCONT')
    await isAsked()
    const { subject, caBundle } = { subject: '/CN=other', caBundle: otherAuthority(folder) }
    expect(subject).toBeDefined()
    running.signal('SIGKILL')
    await followsWithin('killed')
    await webhook!.stop()
    const next = await start({}, rulesOf('v1', [ANY]))
    // The leader puts a wrong bundle right. A stopped leader does not.
    next.signal('SIGSTOP')
    await applyConfiguration(plane, { url: next.url, caBundle })
    await followsWithin('mistrusted')
    next.signal('SIGCONT')
    await isAsked()
  })

  test(
    'garbage in place of the rules: the last good ones stay; at the start the webhook is not ready, and lets all through',
    LONG,
    async () => {
      const running = await start({}, rulesOf('v1', [ANY]))
      writeRules('rules: [{')
      await expect.poll(() => running.lines().some(({ code }) => code === 'rules-problem'), WITHIN).toBe(true)
      const [kept] = (await writeSlice('garbage', 1)).endpoints
      expect([kept.conditions.ready, (await running.readiness()).ready]).toEqual([false, true])
      await running.stop()
      const next = await start({ awaitsReady: false }, 'rules: [{')
      const because = [{ code: 'rules-missing', problem: 'document-refused' }]
      await expect.poll(() => next.readiness(), WITHIN).toEqual({ ready: false, because })
      await followsWithin('without-rules')
      expect((await writeSlice('undecided', 1)).endpoints[0].conditions.ready).toBe(true)
      writeRules(rulesOf('v2', [ANY]))
      await expect.poll(async () => (await next.readiness()).ready, WITHIN).toBe(true)
      await isAsked()
    },
  )

  test('rules that change under load: each update is decided by one version', LONG, async () => {
    const COUNT = 40
    const rule = (version: number): string =>
      rulesOf(`v${version}`, [
        { name: version % 2 === 0 ? 'even' : 'odd', when: 'true', effect: version % 2 === 0 ? 'notReady' : 'ready' },
      ])
    await start({}, rule(1))
    let stored = await writeSlice('load', COUNT)
    const seen = new Map<string, number>()
    const [atLeast, atMost] = [performance.now() + 8_000, performance.now() + 60_000]
    const over = new AbortController()
    const changing = (async () => {
      for (let version = 2; !over.signal.aborted; version++) {
        await new Promise((resolve) => setTimeout(resolve, 700))
        if (!over.signal.aborted) writeRules(rule(version))
      }
    })()
    // Half of the addresses are wished the other way.
    const wishes = Array.from({ length: COUNT }, (_, index) => index % 2 === 0)
    try {
      while (performance.now() < atLeast || (seen.size < 3 && performance.now() < atMost)) {
        const wish = sliceOf('load', COUNT)
        wish.metadata.resourceVersion = stored.metadata.resourceVersion
        for (const [index, endpoint] of wish.endpoints.entries()) endpoint.conditions = { ready: wishes[index], serving: true }
        stored = await plane.ask('PUT', `${SLICES}/load`, wish)
        const said = stored.metadata.annotations?.['sluice.dev/decision'] as string | undefined
        const version = said === undefined ? undefined : Number(/^v(\d+):/.exec(said)![1])
        // On a machine that is too busy, the API server stores an update as it came.
        const decided = version === undefined ? wishes : wishes.map(() => version % 2 === 1)
        expect(stored.endpoints.map((one: Json) => one.conditions.ready)).toEqual(decided)
        const named = version === undefined ? '' : version % 2 === 0 ? 'even=notReady ' : 'odd=ready '
        expect(said ?? '').toContain(named)
        if (said !== undefined) seen.set(said, (seen.get(said) ?? 0) + 1)
      }
    } finally {
      over.abort()
      await changing
    }
    expect(seen.size).toBeGreaterThan(2)
  })

  test(
    'the endpoints of the API server itself are never asked about, nor are namespaces that are not allowed',
    LONG,
    async () => {
      const running = await start({}, rulesOf('v1', [ANY]))
      await plane.ask('POST', '/api/v1/namespaces', { metadata: { name: 'other' } }).catch(() => undefined)
      const subsets = [{ addresses: [{ ip: '192.0.2.7' }], ports: [{ name: 'https', port: 6443 }] }]
      const write = async (namespace: string, name: string): Promise<Json> => {
        const body = { metadata: { name }, subsets }
        const path = `/api/v1/namespaces/${namespace}/endpoints`
        await plane.ask('DELETE', `${path}/${name}`).catch(() => undefined)
        return plane.ask('POST', path, body)
      }
      for (const [namespace, name] of [
        ['default', 'kubernetes'],
        ['other', 'x'],
        ['kube-system', 'x'],
        ['sluice-webhook', 'x'],
      ] as const)
        expect((await write(namespace, name)).subsets[0].addresses).toEqual([{ ip: '192.0.2.7' }])
      expect((await write('default', 'control')).subsets[0].notReadyAddresses).toEqual([{ ip: '192.0.2.7' }])
      const names = running.lines().flatMap(({ uid, namespace, name }) => (uid === undefined ? [] : [`${namespace}/${name}`]))
      expect(names).toContain('default/control')
      for (const name of ['default/kubernetes', 'other/x', 'kube-system/x', 'sluice-webhook/x']) expect(names).not.toContain(name)

      // A configuration that asks about them all changes nothing: the webhook leaves them alone.
      await applyConfiguration(plane, {
        url: running.url,
        change(one) {
          delete one.namespaceSelector
          delete one.matchConditions
        },
      })
      await expect
        .poll(async () => {
          for (const [namespace, name] of [
            ['default', 'kubernetes'],
            ['other', 'x'],
            ['kube-system', 'x'],
            ['sluice-webhook', 'x'],
          ] as const)
            expect((await write(namespace, name)).subsets[0].addresses).toEqual([{ ip: '192.0.2.7' }])
          return new Set(running.lines().flatMap(({ skipped }) => (skipped === undefined ? [] : [skipped])))
        }, WITHIN)
        .toEqual(new Set(['namespace', 'api-server']))
    },
  )

  test('the largest object that the API server takes is stored, and 5 MB posted to the webhook are refused', LONG, async () => {
    const running = await start({}, rulesOf('v1', [ANY]))
    let [fits, tooMany] = [0, 80_000]
    while (tooMany - fits > 5_000) {
      const count = Math.floor((fits + tooMany) / 2)
      const addresses = Array.from({ length: count }, (_, index) => ({
        ip: `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`,
      }))
      const body = { metadata: { name: `largest-${count}` }, subsets: [{ addresses, ports: [{ port: 80 }] }] }
      const stored = await plane.ask('POST', '/api/v1/namespaces/shop/endpoints', body).catch(() => undefined)
      if (stored === undefined) tooMany = count
      else fits = count
    }
    expect(fits).toBeGreaterThan(10_000)
    const largest = running.lines().find(({ name, uid }) => uid !== undefined && name === `largest-${fits}`)
    expect(['changed', 'cut-off']).toContain(largest.result)

    const dispatcher = new Agent({ connect: { rejectUnauthorized: false } })
    const post = (body: string): Promise<number> =>
      fetch(running.url, { method: 'POST', body, dispatcher }).then(({ status }) => status)
    expect(await post(`{"request":{"uid":"${'x'.repeat(5_000_000)}"}}`)).toBe(413)
    await dispatcher.destroy()
    await isAsked()
  })
})

/** Makes an authority that has signed nothing. */
function otherAuthority(folder: string): string {
  const [key, cert] = [join(folder, 'other.key'), join(folder, 'other.crt')]
  const args = [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-days',
    '2',
    '-subj',
    '/CN=other',
  ]
  execFileSync('openssl', [...args, '-keyout', key, '-out', cert], { stdio: 'ignore' })
  return execFileSync('base64', ['-w0', cert], { encoding: 'utf8' })
}
