import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { traceOf } from './judge.ts'
import type { KubeObject } from './kube-api.ts'
import { pod, podTemplate, statefulSet } from './manifests.ts'
import { describeOnCluster } from './shared-cluster.ts'
import type { UpgradeBed } from './upgrade-bed.ts'
import { startUpgradeBed } from './upgrade-bed.ts'

const NAME = 'bad-workloads'

/** A workload that Kubernetes itself would change wrongly is refused with instructions, and nothing is touched. */
describeOnCluster('workloads that cannot be upgraded in place', (cluster) => {
  let bed: UpgradeBed
  let before: Awaited<ReturnType<typeof traceOf>>

  beforeAll(async () => {
    const { api } = cluster()
    const edited = statefulSet({ name: 'edited', namespace: NAME, replicas: 1 })
    const objects = [
      statefulSet({ name: 'web', namespace: NAME, replicas: 1 }),
      statefulSet({ name: 'rolling', namespace: NAME, replicas: 1, updateStrategy: 'RollingUpdate' }),
      edited,
      withInits(statefulSet({ name: 'inits', namespace: NAME, replicas: 1 })),
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'owner', namespace: NAME } },
    ]
    bed = await startUpgradeBed(cluster(), { name: NAME, objects, app: 'web', count: 1 })
    await api.request('POST', `/apis/batch/v1/namespaces/${NAME}/jobs`, job('batch'))
    const owner = await api.get('ConfigMap', 'owner', NAME)
    const owned = pod({ name: 'owned', namespace: NAME })
    owned.metadata.ownerReferences = [
      { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.metadata.uid, controller: true },
    ]
    await api.apply(owned)
    await api.waitFor(
      'all pods to run',
      () => api.list('Pod', NAME),
      (pods) => pods.length === 6 && pods.every(({ status }) => status.phase === 'Running'),
      { timeoutMs: 120_000 },
    )
    const template = edited.spec.template.spec.containers[0]
    await api.patch('StatefulSet', 'edited', NAME, [
      {
        op: 'replace',
        path: '/spec/template/spec/containers/0/env',
        value: [...template.env, { name: 'COLOUR', value: 'blue' }],
      },
    ])
    await api.waitForObject('StatefulSet', 'edited', NAME, ({ status }) => status.updateRevision !== status.currentRevision)
    before = await traceOf(bed)
  })

  afterEach(async () => {
    expect(await traceOf(bed)).toEqual(before)
  })

  afterAll(async () => {
    await cluster().api.request('DELETE', `/apis/batch/v1/namespaces/${NAME}/jobs/batch?propagationPolicy=Background`)
    await bed.stop()
  })

  async function refusal(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await bed.start(['upgrade', ...args, '--allow-unbalanced'], { jsonl: false }).exit
    expect(code, stdout + stderr).toBe(3)
    return stdout + stderr
  }

  it('refuses a StatefulSet that would replace its pods, with the command that changes it', async () => {
    const said = await refusal('statefulset/rolling', 'app=localhost/app:v2')
    expect(said).toContain('statefulset/rolling has the update strategy RollingUpdate')
    const command = /^ +kubectl --kubeconfig \S+ -n bad-workloads patch statefulset\/rolling --type merge -p '(.+)'$/m.exec(said)
    // The API server accepts the printed command, which is on a line of its own.
    const patched = await cluster().api.request(
      'PATCH',
      `/apis/apps/v1/namespaces/${NAME}/statefulsets/rolling?dryRun=All`,
      JSON.parse(command?.[1] ?? '{}'),
      'application/merge-patch+json',
    )
    expect(patched.spec.updateStrategy).toEqual({ type: 'OnDelete' })
  })

  it('refuses where the pods would count as updated without an edit of the template, and prints the difference', async () => {
    const said = await refusal('statefulset/edited', 'app=localhost/app:v2')
    expect(said).toContain('edited-0')
    expect(said).toMatch(/spec\.template\.spec\.containers\[app\]\.env.*COLOUR/)
    expect(said).toContain('blue')
  })

  it.each([
    ['an init container', 'prepare'],
    ['a native sidecar', 'proxy'],
  ])('refuses %s', async (_, container) => {
    const said = await refusal('statefulset/inits', `${container}=localhost/app:v2`)
    expect(said).toContain(`container ${container} is an init container; only those of spec.containers can be upgraded (app)`)
  })

  it("refuses a job's pods", async () => {
    const said = await refusal('-l', 'app=batch', 'app=localhost/app:v2')
    expect(said).toMatch(/owned by Job batch \(batch\/v1\), whose pods run to completion/)
    expect(said).toContain('Change the image in the template')
  })

  it('refuses pods of a controller that it does not know', async () => {
    const said = await refusal('pod/owned', 'app=localhost/app:v2')
    expect(said).toContain('pod owned: owned by ConfigMap owner (v1), of which sluice does not know what it does to patched pods')
  })

  it.each([
    ['job/batch', 'the pods of a job run to their end'],
    ['cloneset/web', 'OpenKruise upgrades the pods of a CloneSet in place by itself'],
    ['replicaset/web', 'name the Deployment that owns it'],
    ['statefulst/web', 'did you mean statefulset/web?'],
  ])('says what to name in place of %s', async (ref, hint) => {
    const { code, stderr } = await bed.start(['upgrade', ref, 'app=localhost/app:v2'], { jsonl: false }).exit
    expect(stderr).toContain(hint)
    expect(code).toBe(2)
  })
})

function withInits(set: KubeObject): KubeObject {
  const inits = [
    { name: 'prepare', image: 'localhost/app:v1', command: ['/app', 'sleep', '0'] },
    { name: 'proxy', image: 'localhost/sidecar:v1', restartPolicy: 'Always', env: [{ name: 'PORT', value: '9000' }] },
  ]
  set.spec.template.spec.initContainers = inits
  return set
}

function job(name: string): KubeObject {
  const template = podTemplate({ name })
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name },
    spec: { template: { ...template, spec: { ...template.spec, restartPolicy: 'Never' } } },
  }
}
