import { afterEach, expect, it } from 'vitest'
import { holdBehindHaproxy } from './held-request.ts'
import { onceEach, traceOf } from './judge.ts'
import type { KubeObject } from './kube-api.ts'
import { statefulSet } from './manifests.ts'
import { describeOnCluster } from './shared-cluster.ts'
import type { SluiceExit, UpgradeBed } from './upgrade-bed.ts'
import { startUpgradeBed } from './upgrade-bed.ts'
import { startWebhook, webhookConfiguration } from './webhook.ts'

const POLICY = 'no-latest-version'
/** An address without a listener. */
const NOBODY = 'https://127.0.0.1:9443/'
const TO_V2 = ['statefulset/web', 'app=localhost/app:v2']

/** A dry run finds out what the API server refuses or changes, before the run touches an object. */
describeOnCluster('admission', (cluster) => {
  let bed: UpgradeBed | undefined
  const undo: (() => Promise<unknown>)[] = []

  afterEach(async () => {
    for (const step of undo.splice(0).toReversed()) await step()
    await bed?.stop()
    bed = undefined
  })

  async function start(name: string): Promise<UpgradeBed> {
    const objects = [statefulSet({ name: 'web', namespace: name, replicas: 2 })]
    bed = await startUpgradeBed(cluster(), { name, objects, app: 'web', count: 2 })
    return bed
  }

  async function create(object: KubeObject): Promise<void> {
    await cluster().api.apply(object)
    undo.push(() => cluster().api.delete(object.kind, object.metadata.name))
  }

  /** Returns the present answer of the API server to v2 on a pod. The API server learns of new rules by a watch. */
  async function dryRun(): Promise<string> {
    const path = `/api/v1/namespaces/${bed!.namespace}/pods/web-0?dryRun=All`
    const patch = [{ op: 'replace', path: '/spec/containers/0/image', value: 'localhost/app:v2' }]
    const { api } = cluster()
    const answer = await api.request('PATCH', path, patch, 'application/json-patch+json').catch((error: unknown) => error)
    return answer instanceof Error ? answer.message : answer.spec.containers[0].image
  }

  async function refusesUntouched(): Promise<SluiceExit> {
    const before = await traceOf(bed!)
    const exit = await bed!.start(['upgrade', ...TO_V2], { jsonl: false }).exit
    const after = await traceOf(bed!)
    expect(exit.code, exit.stdout + exit.stderr).toBe(3)
    // Only the Lease was written: no drain, no template, no pod, no ledger.
    expect(after.writes.slice(before.writes.length).filter((write) => !write.endsWith(' leases'))).toEqual([])
    expect({ ...after, writes: [] }).toEqual({ ...before, writes: [] })
    expect(bed!.haproxy.recorder.effects()).toEqual([])
    const dryRuns = (await bed!.audit({ verb: 'patch', resource: 'pods' })).filter(({ requestURI }) =>
      requestURI.includes('dryRun=All'),
    )
    expect(dryRuns.length).toBeGreaterThan(0)
    return exit
  }

  it('refuses what a policy on images refuses, with its words', async () => {
    const { namespace, upgrade, effects } = await start('admission-policy')
    await create({
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name: POLICY },
      spec: {
        matchConstraints: {
          resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['pods'] }],
        },
        validations: [
          {
            expression: "object.spec.containers.all(c, !c.image.endsWith(':v2'))",
            message: 'v2 has not passed the scan',
          },
        ],
      },
    })
    await create({
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name: POLICY },
      spec: {
        policyName: POLICY,
        validationActions: ['Deny'],
        matchResources: { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } } },
      },
    })
    await cluster().api.waitFor('the policy to hold', dryRun, (answer) => answer.includes('has not passed'))

    const { stdout, stderr } = await refusesUntouched()
    expect(stdout + stderr).toMatch(/the API server refuses the patch of pod\/web-1: .*v2 has not passed the scan/)

    // An upgrade to another image passes: the refusal left nothing in its way.
    const { code, stderr: error } = await upgrade('statefulset/web', 'app=localhost/app:v3')
    expect(code, error).toBe(0)
    expect(effects()).toEqual(onceEach(['web-0', 'web-1']))
  })

  it('refuses where a webhook rewrites the image', async () => {
    const { namespace } = await start('admission-webhook')
    const webhook = await startWebhook(cluster(), 'rewriting-webhook.ts')
    undo.push(webhook.stop)
    await create(webhookConfiguration('MutatingWebhookConfiguration', namespace, webhook.client))
    await cluster().api.waitFor('the webhook to work', dryRun, (image) => image === 'mirror.example/app:v2')

    const { stdout, stderr } = await refusesUntouched()
    expect(stdout + stderr).toContain(
      'the dry run came back with other images (app=mirror.example/app:v2): an admission webhook rewrites them',
    )
  })

  it('where a webhook dies in the middle the drained pod is a person’s in time, and the same command goes on', async () => {
    const { namespace, haproxy, start: run, upgrade, effects } = await start('admission-outage')
    const held = await holdBehindHaproxy(bed!, 'web-1')
    const flags = ['--drain-deadline', '15s', '--restore-deadline', '3s']
    const first = run(['upgrade', ...TO_V2, ...flags])
    await first.seen(({ type, ...event }) => type === 'podState' && 'to' in event && event.to === 'emptying')
    await create(webhookConfiguration('ValidatingWebhookConfiguration', namespace, { url: NOBODY }))
    await cluster().api.waitFor('the webhook to fail', dryRun, (answer) => answer.includes('failed calling webhook'))
    expect(await held.end()).toBe(200)

    const { code, result, stderr } = await first.exit
    expect(code, stderr).toBe(8)
    expect(result!.pods.map(({ pod, outcome, traffic }) => ({ pod, outcome, traffic }))).toEqual([
      { pod: 'web-1', outcome: 'needsOperator', traffic: 'out' },
      { pod: 'web-0', outcome: 'unchanged', traffic: 'asBefore' },
    ])
    expect(result!.reason).toMatchObject({ message: expect.stringContaining('failed calling webhook') })
    expect(effects()).toEqual({ 'web-1': ['drain'] })
    expect(haproxy.recorder.effects().map(({ server }) => server)).not.toContain('web-0')

    await undo.pop()!()
    await cluster().api.waitFor('the webhook to be gone', dryRun, (image) => image === 'localhost/app:v2')
    const second = await upgrade(...TO_V2)
    expect(second.code, second.stderr).toBe(0)
    expect(effects()).toEqual(onceEach(['web-0', 'web-1']))
  })
})
