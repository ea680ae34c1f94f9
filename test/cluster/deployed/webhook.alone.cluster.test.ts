import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { service, statefulSet } from '../manifests.ts'
import { clusterSupport } from '../support.ts'
import { startUpgradeBed, type UpgradeBed } from '../upgrade-bed.ts'
import { isReady, waitForPods } from '../workloads.ts'
import { type DeployBed, startDeployBed } from './deploy-bed.ts'
import { type FollowedEndpoints, followEndpoints, slicePods } from './follow-endpoints.ts'
import { MARK, silenceNode, startBatch, upgradeNaively } from './naive-upgrade.ts'

/*
 * The webhook in real pods, installed from deploy/ with kubectl alone, as its ServiceAccount. One cluster serves all tests, in their order.
 * SLUICE_SLOW also kills replicas, and upgrades every pod in the way of the incident.
 */

const FLAP = 'flap'
const RELEASE = 'release'
const HOME = 'sluice-webhook'
const CONFIG = 'sluice-webhook-rules'
const WITHIN = { timeout: 60_000 }
/** Every pod of the way of the incident, in place of one. */
const ALL = ['web-0', 'web-1', 'web-2']
const isSlow = process.env['SLUICE_SLOW'] !== undefined
const PODS = isSlow ? ALL : ['web-0']
const READY_AFTER_S = 3

const support = await clusterSupport()
const missing = support.available ? '' : ` (needs ${support.missing.join('; ')})`

describe.skipIf(!support.available)(`the webhook as deploy/ has it${missing}`, () => {
  let bed: DeployBed
  let flap: UpgradeBed
  let release: UpgradeBed
  let overlay: string
  let bySluice: Awaited<ReturnType<typeof upgraded>>

  beforeAll(async () => {
    bed = await startDeployBed()
    const { cluster } = bed
    const start = (name: string, readyAfter: number): Promise<UpgradeBed> =>
      startUpgradeBed(cluster, {
        name,
        app: 'web',
        count: 3,
        objects: [statefulSet({ name: 'web', namespace: name, readyAfter }), service({ name: 'web', namespace: name })],
      })
    ;[flap, release] = await Promise.all([start(FLAP, READY_AFTER_S), start(RELEASE, 1)])
  })
  afterAll(async () => {
    await Promise.all([flap?.stop(), release?.stop()])
    await bed?.stop()
  })

  it('is not there yet: an upgrade by sluice', async () => {
    bySluice = await upgraded('localhost/app:v2')
    expect(bySluice.phases['web-0']!.length).toBeGreaterThan(3)
  })

  const follow = (namespace: string): Promise<FollowedEndpoints> => followEndpoints(bed.cluster.api, namespace, 'web')

  it('installs with two replicas under restricted Pod Security, and changes nothing by a rule in audit', async () => {
    overlay = await bed.overlay('webhook', {
      bases: ['webhook/own-certificate'],
      rights: { base: 'webhook/namespace', namespaces: [FLAP, RELEASE] },
      files: { 'rules.yaml': rules('audit', OUT) },
      more: {
        configMapGenerator: [
          { name: CONFIG, namespace: HOME, behavior: 'replace', options: { disableNameSuffixHash: true }, files: ['rules.yaml'] },
        ],
        patches: [FLAP, RELEASE].map((namespace) => ({
          target: { kind: 'Deployment', name: HOME },
          patch: JSON.stringify([
            { op: 'add', path: '/spec/template/spec/containers/0/args/-', value: `--namespace=${namespace}` },
          ]),
        })),
      },
    })
    await bed.kubectl('apply', '-k', overlay)
    for (const name of [FLAP, RELEASE]) await bed.kubectl('label', 'namespace', name, 'sluice.dev/webhook=enabled')
    await bed.available(HOME, HOME, 2)
    const pods = await bed.cluster.api.list('Pod', HOME)
    expect(pods.map(({ spec }) => spec.serviceAccountName)).toEqual([HOME, HOME])
    // Restricted Pod Security refuses a pod with a right more.
    await expect(bed.kubectl('run', 'root', '-n', HOME, '--image=localhost/app:v1')).rejects.toThrow('violates PodSecurity')

    await expect.poll(() => said(({ code }) => code === 'ca-bundle-written'), WITHIN).toBe(true)

    await touch(FLAP)
    await expect.poll(() => decided('audited', FLAP), WITHIN).toBe(true)
    expect(await states(FLAP)).toEqual({ 'web-0': 'in', 'web-1': 'in', 'web-2': 'in' })
  })

  it('follows rules that are edited live: enforced, and taken back', async () => {
    await setRules(rules('enforce', OUT))
    await expect.poll(() => states(FLAP), WITHIN).toEqual({ 'web-0': 'in', 'web-1': 'out', 'web-2': 'in' })
    await expect.poll(() => addresses(FLAP), WITHIN).toEqual({ in: 2, out: 1 })
    // The condition of the pod is as it was.
    expect(isReady(await bed.cluster.api.get('Pod', 'web-1', FLAP))).toBe(true)
    await setRules('apiVersion: sluice.dev/v1\nkind: EndpointRules\nrules: [\n')
    await expect.poll(() => said(({ code }) => code === 'rules-problem'), WITHIN).toBe(true)
    expect(await states(FLAP)).toMatchObject({ 'web-1': 'out' })
    await setRules(rules('enforce', ''))
    await expect.poll(() => states(FLAP), WITHIN).toEqual({ 'web-0': 'in', 'web-1': 'in', 'web-2': 'in' })
  })

  it.runIf(isSlow)('goes on with one replica killed; with none, endpoints are as their writers wish', async () => {
    const { api } = bed.cluster
    await setRules(rules('enforce', OUT))
    await expect.poll(() => states(FLAP), WITHIN).toMatchObject({ 'web-1': 'out' })
    const [one] = await api.list('Pod', HOME)
    await bed.cluster.killContainer(HOME, one.metadata.name, 'webhook')
    await scale(FLAP, 4)
    await expect.poll(() => states(FLAP), WITHIN).toEqual({ 'web-0': 'in', 'web-1': 'out', 'web-2': 'in', 'web-3': 'in' })
    await bed.available(HOME, HOME, 2)

    await api.patch('Deployment', HOME, HOME, { spec: { replicas: 0 } })
    await api.waitFor(
      'the end of both replicas',
      () => api.list('Pod', HOME),
      (pods) => pods.length === 0,
    )
    await scale(FLAP, 3)
    await expect.poll(() => states(FLAP), WITHIN).toEqual({ 'web-0': 'in', 'web-1': 'in', 'web-2': 'in' })
    await api.patch('Deployment', HOME, HOME, { spec: { replicas: 2 } })
    await bed.available(HOME, HOME, 2)
    await expect.poll(() => states(FLAP), WITHIN).toMatchObject({ 'web-1': 'out' })
    await setRules(rules('enforce', ''))
    await expect.poll(() => states(FLAP), WITHIN).toMatchObject({ 'web-1': 'in' })
  })

  it('keeps requests and addresses through the way of the incident, with its late heartbeat, which without rules loses them', async () => {
    const without = await incident('localhost/app:v2')
    await setRules(rules('enforce', SHIPPED))
    await expect.poll(() => said(({ code, version }) => code === 'rules-accepted' && version === 'shipped'), WITHIN).toBe(true)
    const withRules = await incident('localhost/app:v3')
    for (const [name, { failed, requests, calls, sliceFlips, endpointFlips }] of Object.entries({ without, withRules }))
      console.log(
        `${name}: ${failed} of ${requests} requests failed; ${calls} calls; ${sliceFlips} changes in slices, ${endpointFlips} in Endpoints`,
      )
    expect(without.failed).toBeGreaterThan(0)
    expect(without.drained['web-0']!.length).toBeGreaterThan(2)
    expect(Object.keys(without.drained).sort()).toEqual(ALL)
    expect(withRules.failed, JSON.stringify(withRules.byKind)).toBe(0)
    expect(withRules.drained).toEqual(Object.fromEntries(PODS.map((pod) => [pod, ['drain', 'ready']])))
    // A view that sees a pod become ready before its controller does stores the older wish, which is another change of an address.
    if (!isSlow) return
    const once = Object.fromEntries(ALL.map((pod) => [pod, PODS.includes(pod) ? ['in', 'out', 'in'] : ['in']]))
    expect({ slices: withRules.slices, endpoints: withRules.endpoints }).toEqual({ slices: once, endpoints: once })
    // The conditions of the pods are those that the kubelet and the controllers write.
    expect(withRules.pods['web-1']).toEqual(without.pods['web-1'])
  })

  it('leaves an upgrade by sluice as it is: no request lost, one drain and one restore a pod, and the same phases', async () => {
    expect(await upgraded('localhost/app:v3')).toEqual(bySluice)
  })

  it('is taken away whole, and the endpoints go on', async () => {
    await bed.kubectl('delete', '-k', overlay)
    const { api } = bed.cluster
    await expect(api.get('MutatingWebhookConfiguration', HOME)).rejects.toThrow('404')
    await expect(api.get('Namespace', HOME)).rejects.toThrow('404')
    await expect(api.get('Role', HOME, FLAP)).rejects.toThrow('404')
    await scale(FLAP, 2)
    await expect.poll(() => states(FLAP), WITHIN).toEqual({ 'web-0': 'in', 'web-1': 'in' })
  })

  /** An upgrade by sluice, under traffic. */
  async function upgraded(image: string) {
    const from = release.haproxy.recorder.effects().length
    const followed = await follow(RELEASE)
    const traffic = await release.traffic()
    const { code, result, events } = await release.upgrade('sts/web', `app=${image}`)
    const { failed, byKind } = await traffic.stop()
    await followed.stop()
    expect(failed, JSON.stringify(byKind)).toBe(0)
    expect([code, result?.outcome]).toEqual([0, 'done'])
    const calls = effectiveCalls(release, from)
    expect(calls).toEqual(Object.fromEntries(ALL.map((pod) => [pod, ['drain', 'ready']])))
    expect(followed.slices()).toEqual(Object.fromEntries(ALL.map((pod) => [pod, ['in', 'out', 'in']])))
    const phases: Record<string, string[]> = {}
    for (const event of events) if (event.type === 'podState') (phases[event.pod] ??= []).push(event.to)
    return { calls, phases }
  }

  /** One upgrade and one late heartbeat, under traffic. */
  async function incident(image: string) {
    const { api } = bed.cluster
    await expect.poll(() => addresses(FLAP), WITHIN).toEqual({ in: ALL.length, out: 0 })
    const followed = await follow(FLAP)
    const seen = followConditions()
    const from = flap.haproxy.recorder.effects().length
    const batch = startBatch(flap, followed)
    await batch.tick()
    const traffic = await flap.traffic({ expectFailures: true })
    for (const pod of PODS) await upgradeNaively(flap, batch, pod, image)
    await silenceNode(flap)
    const { requests, failed, byKind } = await traffic.stop()
    await batch.stop()
    await followed.stop()
    await seen.stop()
    const drained = effectiveCalls(flap, from)
    const { slices: sliceFlips, endpoints: endpointFlips } = followed.flips()
    return {
      requests,
      failed,
      byKind,
      drained,
      calls: Object.values(drained).flat().length,
      slices: followed.slices(),
      endpoints: followed.endpoints(),
      sliceFlips,
      endpointFlips,
      pods: seen.ready(),
    }

    /** The values of condition Ready of each pod, without repetitions. */
    function followConditions() {
      const stopping = new AbortController()
      const values: Record<string, string[]> = {}
      const watching = api.watch(
        `/api/v1/namespaces/${FLAP}/pods?watch=1&labelSelector=app%3Dweb`,
        ({ object }) => {
          const { status } = (object.status?.conditions ?? []).find(({ type }: { type: string }) => type === 'Ready') ?? {}
          const own = (values[object.metadata?.name] ??= [])
          if (status !== undefined && own.at(-1) !== status) own.push(status)
        },
        stopping.signal,
      )
      return {
        ready: () => values,
        async stop() {
          stopping.abort()
          await watching
        },
      }
    }
  }

  async function states(namespace: string): Promise<Record<string, string>> {
    const slices = await bed.cluster.api.list('EndpointSlice', namespace, 'kubernetes.io/service-name=web')
    return Object.assign({}, ...slices.map(slicePods)) as Record<string, string>
  }

  /** The numbers of addresses in the Endpoints. */
  async function addresses(namespace: string): Promise<{ in: number; out: number }> {
    const { subsets = [] } = await bed.cluster.api.get('Endpoints', 'web', namespace)
    const count = (field: string): number =>
      subsets.reduce((sum: number, subset: Record<string, unknown[]>) => sum + (subset[field]?.length ?? 0), 0)
    return { in: count('addresses'), out: count('notReadyAddresses') }
  }

  /** Has the rules decide about the objects as they are stored. */
  async function touch(namespace: string): Promise<void> {
    const path = `test/touched=${Date.now()}`
    const slices = ['endpointslices', '-l', 'kubernetes.io/service-name=web', path]
    for (const objects of [slices, ['endpoints', 'web', path]])
      await bed.kubectl('annotate', '--overwrite', '-n', namespace, ...objects)
  }

  async function setRules(text: string): Promise<void> {
    await bed.cluster.api.patch('ConfigMap', CONFIG, HOME, { data: { 'rules.yaml': text } })
  }

  async function scale(namespace: string, replicas: number): Promise<void> {
    await bed.cluster.api.patch('StatefulSet', 'web', namespace, { spec: { replicas } })
    await waitForPods(bed.cluster.api, namespace, 'web', replicas)
  }

  const decided = (result: string, namespace: string): Promise<boolean> =>
    said((line) => line['result'] === result && line['namespace'] === namespace)

  async function said(like: (line: Record<string, unknown>) => boolean): Promise<boolean> {
    return (await bed.logs(HOME)).some(like)
  }
})

/** The changes of each server of the load balancer since then. */
function effectiveCalls({ haproxy }: UpgradeBed, from: number): Record<string, string[]> {
  const calls: Record<string, string[]> = {}
  for (const { server, kind, effective } of haproxy.recorder.effects().slice(from))
    if (effective) (calls[server] ??= []).push(kind)
  return calls
}

function rules(mode: 'audit' | 'enforce', own: string): string {
  const version = own === SHIPPED ? 'metadata:\n  version: shipped\n' : ''
  return `apiVersion: sluice.dev/v1\nkind: EndpointRules\n${version}mode: ${mode}\nrules:${own === '' ? ' []\n' : `\n${own}`}`
}

const OUT = `
  - name: one-out
    when: exists(pod) && pod.metadata.name == "web-1"
    effect: notReady
`

/** The shipped rules, and two rules for a script that marks its pods and knows no journal. */
const SHIPPED = `
  - use: upgrading-not-ready
  - name: marked
    when: exists(pod) && "${MARK}" in pod.metadata.annotations
    effect: notReady
  - name: old-container
    when: exists(pod) && pod.spec.containers.exists(c, pod.status.containerStatuses.exists(s, s.name == c.name && s.image != c.image))
    effect: notReady
  - use: late-heartbeat
    with: { within: 5m, floor: "100%" }
`
