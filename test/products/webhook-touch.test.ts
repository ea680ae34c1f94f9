import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { chosenVersion } from '../cluster/kubernetes-versions.ts'
import { type ControlPlane, type Json, startControlPlane } from './endpoints/control-plane.ts'
import { forEach } from './endpoints/play.ts'
import { findKubernetes } from './kubernetes.ts'
import { describeOn } from './program.ts'
import { ALLOWED, applyConfiguration } from './webhook/configuration.ts'
import { BY_LABEL, EFFECTS, rulesOf, seenWith } from './webhook/effects.ts'
import { type Pods, podsOf } from './webhook/pods.ts'
import { startWebhookProcess, type WebhookProcess } from './webhook/webhook-process.ts'

/*
 * Second looks of `sluice webhook serve` on a real API server with the real controllers of endpoints. SLUICE_WEBHOOK_PODS is the number of
 * pods of the largest Service of the last test, SLUICE_WEBHOOK_IDLE_S how long it is left alone.
 */

const LARGEST = Number(process.env['SLUICE_WEBHOOK_PODS'] ?? 150)
const IDLE_MS = Number(process.env['SLUICE_WEBHOOK_IDLE_S'] ?? 10) * 1_000
const WITHIN = { timeout: 45_000 + 50 * LARGEST, interval: 250 }
const WRITES = { verb: ['create', 'update', 'patch', 'delete'] }

const OUT = { name: 'out', when: "'example.dev/out' in pod.metadata.annotations", effect: 'notReady' }
const GONE = { name: 'gone', when: "'example.dev/gone' in pod.metadata.annotations", effect: 'remove' }
const KEPT = {
  name: 'kept',
  when: "!endpoint.ready && 'keep' in pod.metadata.labels",
  effect: 'keepPrevious',
  since: "condition(pod, 'Ready').lastTransitionTime",
  for: '6s',
}
const APPLIED = { 'kubectl.kubernetes.io/last-applied-configuration': '{}' }
const SLICES = '/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices'

describeOn(await findKubernetes(chosenVersion()), (programs) => {
  let plane: ControlPlane
  let pods: Pods
  let folder: string
  let file: string
  const webhooks: WebhookProcess[] = []

  function writeRules(text: string): void {
    writeFileSync(`${file}.next`, text)
    renameSync(`${file}.next`, file)
  }

  const start = async (): Promise<WebhookProcess> => {
    const webhook = await startWebhookProcess({ kubeconfig: plane.kubeconfig, namespaces: ['shop'], rules: file })
    webhooks.push(webhook)
    return webhook
  }
  /** Resolves once the webhook that was started last has these rules in force. */
  async function enforce(version: string, rules: readonly object[], mode = 'enforce'): Promise<void> {
    writeRules(rulesOf(version, rules, mode))
    await expect.poll(async () => (await webhooks.at(-1)!.metrics()).includes(`version="${version}"`), WITHIN).toBe(true)
  }
  const leads = (webhook: WebhookProcess): boolean => webhook.lines().findLast(({ msg }) => msg === 'Leader')?.isLeader === true
  const touchesOf = (webhook: WebhookProcess) => webhook.lines().filter(({ code }) => code === 'touched')
  const stateOf = async (service: string, pod: string): Promise<string> => {
    const { slices, endpoints } = await pods.endpoints(service)
    const inSlice = slices[pod] === undefined ? 'out' : slices[pod].ready ? 'ready' : 'not'
    return `${inSlice} ${endpoints.ready.includes(pod) ? 'ready' : endpoints.notReady.includes(pod) ? 'not' : 'out'}`
  }
  const annotate = (pod: string, annotations: Record<string, string | null>) =>
    plane.ask('PATCH', `/api/v1/namespaces/shop/pods/${pod}`, { metadata: { annotations } })

  async function writesIn(namespace: string, since: number): Promise<{ slices: number; endpoints: number }> {
    const count = async (resource: string): Promise<number> =>
      (await plane.audit({ ...WRITES, namespace, resource, since })).length
    return { slices: await count('endpointslices'), endpoints: await count('endpoints') }
  }

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-webhook-'))
    file = join(folder, 'rules.yaml')
    plane = await startControlPlane(programs)
    const { ask } = plane
    await ask('POST', '/api/v1/namespaces', { metadata: { name: 'sluice-webhook' } })
    await ask('POST', '/api/v1/namespaces', { metadata: { name: 'shop', labels: ALLOWED } })
    await ask('POST', '/api/v1/namespaces', { metadata: { name: 'plain' } })
    await ask('POST', '/api/v1/nodes', { metadata: { name: 'node-a' } })
    // A Lease that was given back is taken at once.
    await ask('POST', '/apis/coordination.k8s.io/v1/namespaces/sluice-webhook/leases', {
      metadata: { name: 'sluice-webhook' },
      spec: { holderIdentity: '', leaseDurationSeconds: 1, leaseTransitions: 1 },
    })
    pods = podsOf(plane, 'shop', '10.20')
    writeRules(rulesOf('v1', [OUT, GONE, KEPT]))
    const webhook = await start()
    await applyConfiguration(plane, { url: webhook.url })
  }, 120_000)
  afterAll(async () => {
    await Promise.all(webhooks.map((webhook) => webhook.stop()))
    await plane?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  test(
    'objects become right without any other write: kept until a time, an annotation of a pod, removed and back',
    { timeout: 120_000 },
    async () => {
      const [webhook] = webhooks
      await expect.poll(() => leads(webhook!), WITHIN).toBe(true)
      await pods.makeService('web')
      for (const place of [0, 1, 2]) await pods.makePod('web', place, place === 2 ? { keep: 'yes' } : {})
      await expect.poll(() => stateOf('web', 'web-2'), WITHIN).toBe('ready ready')
      await pods.setReady('web-2', false)
      await annotate('web-0', { 'example.dev/out': 'yes' })
      await annotate('web-1', { 'example.dev/gone': 'yes' })
      await expect.poll(() => stateOf('web', 'web-0'), WITHIN).toBe('not not')
      await expect.poll(() => stateOf('web', 'web-1'), WITHIN).toBe('not out')
      await expect.poll(() => stateOf('web', 'web-2'), WITHIN).toBe('not not')
      await annotate('web-0', { 'example.dev/out': null })
      await annotate('web-1', { 'example.dev/gone': null })
      await expect.poll(() => stateOf('web', 'web-0'), WITHIN).toBe('ready ready')
      await expect.poll(() => stateOf('web', 'web-1'), WITHIN).toBe('ready ready')
      expect(touchesOf(webhook!).length).toBeGreaterThan(2)
    },
  )

  test(
    'the leader is killed while other rules take hold: all objects are right in the end, and then nothing is written',
    { timeout: 150_000 },
    async () => {
      const [first] = webhooks
      const services = Array.from({ length: 12 }, (_, of) => `many-${of}`)
      for (const service of services) {
        await pods.makeService(service)
        await pods.makePod(service, 0, { effect: 'notReady' })
      }
      for (const service of services) await expect.poll(() => stateOf(service, `${service}-0`), WITHIN).toBe('ready ready')
      const second = await start()
      await applyConfiguration(plane, { url: second.url })
      writeRules(rulesOf('v2', BY_LABEL))
      await expect.poll(() => touchesOf(first!).length > 6, WITHIN).toBe(true)
      first!.signal('SIGKILL')
      for (const service of services) await expect.poll(() => stateOf(service, `${service}-0`), WITHIN).toBe('not not')
      expect(leads(second) || touchesOf(first!).length >= 24).toBe(true)
      await expect.poll(() => leads(second), WITHIN).toBe(true)
      await new Promise((resolve) => setTimeout(resolve, 6_000))
      const [touched, sinceAt] = [touchesOf(second).length, Date.now()]
      await new Promise((resolve) => setTimeout(resolve, IDLE_MS))
      expect([touchesOf(second).length, await writesIn('shop', sinceAt)]).toEqual([touched, { slices: 0, endpoints: 0 }])
      // The controllers write once more after their restart, since their wish differs; the objects stay as they are.
      const restartedAt = Date.now()
      await plane.replaceManager({})
      await expect
        .poll(async () => (await writesIn('shop', restartedAt)).endpoints, WITHIN)
        .toBeGreaterThanOrEqual(services.length)
      for (const service of services) expect(await stateOf(service, `${service}-0`)).toBe('not not')
    },
  )

  test(
    'a slice whose name the API server makes is decided as it is made: of a new Service, and for the 101st pod',
    { timeout: 120_000 },
    async () => {
      const webhook = webhooks.at(-1)!
      await enforce('v3', BY_LABEL)
      const places = Array.from({ length: 100 }, (_, place) => place)
      await forEach(places, async (place) => void (await pods.makePod('born', place, { effect: 'notReady' })))
      const isOf = (line: { service?: string; kind?: string; operation?: string }): boolean =>
        line.service === 'born' && line.kind === 'EndpointSlice' && line.operation === 'CREATE'
      /** A busy webhook lets a write through undecided, so that the slice is made anew until its create is decided. */
      const decidedWith = async (decided: number): Promise<void> => {
        await expect
          .poll(
            async () => {
              if (webhook.lines().some((line) => isOf(line) && line.result === 'changed' && line.decided === decided)) return true
              const { items } = await plane.ask('GET', `${SLICES}?labelSelector=kubernetes.io/service-name%3Dborn`)
              for (const { metadata, endpoints } of items)
                if ((endpoints ?? []).length === decided) await plane.ask('DELETE', `${SLICES}/${metadata.name}`)
              return false
            },
            { ...WITHIN, interval: 3_000 },
          )
          .toBe(true)
      }
      await pods.makeService('born')
      await decidedWith(100)
      await pods.makePod('born', 100, { effect: 'notReady' })
      await decidedWith(1)
      for (const place of [0, 99, 100]) await expect.poll(() => stateOf('born', `born-${place}`), WITHIN).toBe('not not')
      expect(webhook.lines().filter(({ result, name = '' }) => result === 'failed' && name.startsWith('born'))).toEqual([])
    },
  )

  test(
    'a Service of kubectl apply, whose one annotation is that of kubectl: a rule is set and taken away, and all is right again',
    { timeout: 120_000 },
    async () => {
      await enforce('v4', [])
      await pods.makeService('applied', APPLIED)
      for (const place of [0, 1]) await pods.makePod('applied', place, place === 0 ? { effect: 'notReady' } : {})
      await expect.poll(() => stateOf('applied', 'applied-0'), WITHIN).toBe('ready ready')
      await enforce('v5', BY_LABEL)
      await expect.poll(() => stateOf('applied', 'applied-0'), WITHIN).toBe('not not')
      expect((await plane.ask('GET', '/api/v1/namespaces/shop/services/applied')).metadata.annotations).toEqual(APPLIED)
      await enforce('v6', [])
      for (const place of [0, 1]) await expect.poll(() => stateOf('applied', `applied-${place}`), WITHIN).toBe('ready ready')
      const { annotations } = (await plane.ask('GET', '/api/v1/namespaces/shop/services/applied')).metadata
      expect(Object.keys(annotations).toSorted()).toEqual([...Object.keys(APPLIED), 'sluice.dev/touched-at'].toSorted())
      const marked = async (path: string): Promise<string[]> =>
        (await plane.ask('GET', path)).items.flatMap((one: Json) =>
          one.metadata.annotations?.['sluice.dev/rules-applied'] === undefined ? [] : [one.metadata.name],
        )
      // No rule is in force, so that no object has its mark once all are right.
      await expect.poll(() => marked(SLICES), WITHIN).toEqual([])
      await expect.poll(() => marked('/api/v1/namespaces/shop/endpoints'), WITHIN).toEqual([])
    },
  )

  test(
    'mode audit and an empty list of rules write nothing where the controllers wait and where another writer differs',
    { timeout: 120_000 },
    async () => {
      const webhook = webhooks.at(-1)!
      for (const service of ['audited', 'waits']) {
        await pods.makeService(service)
        await pods.makePod(service, 0, { effect: 'notReady' })
        await expect.poll(() => stateOf(service, `${service}-0`), WITHIN).toBe('ready ready')
      }
      plane.freezeManager()
      try {
        await pods.setReady('waits-0', false)
        for (const [version, mode, rules] of [
          ['v7', 'enforce', []],
          ['v8', 'audit', BY_LABEL],
        ] as const) {
          await enforce(version, rules, mode)
          const touched = touchesOf(webhook).length
          await new Promise((resolve) => setTimeout(resolve, 8_000))
          expect(touchesOf(webhook).length).toBe(touched)
        }
        // Control: the same rules in force have the object touched.
        await enforce('v9', BY_LABEL)
        await expect.poll(() => stateOf('audited', 'audited-0'), WITHIN).toBe('not not')
      } finally {
        plane.thawManager()
      }
      await expect.poll(() => stateOf('waits', 'waits-0'), WITHIN).toBe('not not')
    },
  )

  test(
    'a rule for each effect: what readers see is right in the end, and the controllers write little more',
    { timeout: 600_000 },
    async () => {
      const plain = podsOf(plane, 'plain', '10.40')
      await enforce('v10', BY_LABEL)
      const figures: object[] = []
      for (const size of [1, LARGEST]) {
        for (const effect of EFFECTS) {
          const service = `${effect.toLowerCase()}-${size}`
          const since = Date.now()
          for (const one of [pods, plain]) await one.makeService(service)
          const places = Array.from({ length: size }, (_, place) => place)
          await Promise.all(
            [pods, plain].map((of) =>
              forEach(places, async (place) => void (await of.makePod(service, place, place % 2 === 0 ? { effect } : {}))),
            ),
          )
          await expect.poll(async () => Object.keys((await plain.endpoints(service)).slices).length, WITHIN).toBe(size)
          // Some pods turn, as in an upgrade.
          const turned = places.slice(0, 10)
          for (const isReady of [false, true, false])
            for (const place of turned) for (const one of [pods, plain]) await one.setReady(`${service}-${place}`, isReady)
          const wanted = (place: number): string => seenWith(effect, place % 2 === 0, place >= turned.length)
          await expect
            .poll(async () => {
              const { slices } = await pods.endpoints(service)
              return places.filter((place) => {
                const found = slices[`${service}-${place}`]
                return (found && `${found.ready} ${found.serving}`) !== wanted(place)
              })
            }, WITHIN)
            .toEqual([])
          const isOf = (one: { objectRef?: { name?: string } }): boolean =>
            one.objectRef?.name === service || one.objectRef?.name?.startsWith(`${service}-`) === true
          const count = async (namespace: string, resource: string): Promise<number> =>
            (await plane.audit({ ...WRITES, namespace, resource, since })).filter(isOf).length
          const figure = {
            size,
            effect,
            slices: [await count('shop', 'endpointslices'), await count('plain', 'endpointslices')],
            endpoints: [await count('shop', 'endpoints'), await count('plain', 'endpoints')],
          }
          figures.push(figure)
          // A controller that fights with the webhook would write without end.
          expect(figure.slices[0]).toBeLessThan(6 * figure.slices[1]! + 30)
          expect(figure.endpoints[0]).toBeLessThan(6 * figure.endpoints[1]! + 30)
        }
      }
      // A touch of the last Service may be due still.
      await expect.poll(() => writesIn('shop', Date.now() - 6_000), WITHIN).toEqual({ slices: 0, endpoints: 0 })
      const sinceAt = Date.now()
      await new Promise((resolve) => setTimeout(resolve, IDLE_MS))
      const idle = await writesIn('shop', sinceAt)
      if (LARGEST > 150) console.log(figures, { idle })
      expect(idle).toEqual({ slices: 0, endpoints: 0 })
    },
  )
})
