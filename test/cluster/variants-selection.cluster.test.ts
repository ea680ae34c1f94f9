import { afterEach, expect, it } from 'vitest'
import { onceEach, traceOf } from './judge.ts'
import type { KubeObject } from './kube-api.ts'
import { deployment, statefulSet } from './manifests.ts'
import { describeOnCluster } from './shared-cluster.ts'
import type { UpgradeBed } from './upgrade-bed.ts'
import { startUpgradeBed } from './upgrade-bed.ts'

describeOnCluster('what is upgraded, and to what', (cluster) => {
  let bed: UpgradeBed | undefined

  afterEach(async () => {
    await bed?.stop()
    bed = undefined
  })

  async function startSet(name: string, replicas: number): Promise<UpgradeBed> {
    const objects = [statefulSet({ name: 'web', namespace: name, replicas })]
    bed = await startUpgradeBed(cluster(), { name, objects, app: 'web', count: replicas })
    return bed
  }

  /** Returns the image of the first container, by pod. */
  async function images(): Promise<Record<string, string>> {
    const pods = await bed!.pods()
    return Object.fromEntries(pods.map(({ metadata, spec }) => [metadata.name, spec.containers[0].image]))
  }

  async function upgrade(...args: string[]): Promise<void> {
    const traffic = await bed!.traffic()
    const { code, stderr, stdout } = await bed!.upgrade(...args)
    const { failed, byKind } = await traffic.stop()
    expect(code, stderr || stdout).toBe(0)
    expect(failed, JSON.stringify(byKind)).toBe(0)
  }

  async function plan(...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
    return bed!.start(['plan', ...args], { jsonl: false }).exit
  }

  it('upgrades one pod of a StatefulSet, then the rest by selector; the plan says before what, and in the end nothing', async () => {
    const { effects } = await startSet('by-selection', 2)
    const selected = ['-l', 'app=web', 'app=localhost/app:v2']

    const before = await traceOf(bed!)
    const first = await plan(...selected)
    expect(first.code, first.stderr).toBe(1)
    expect(first.stdout).toContain('statefulset/web in namespace by-selection: 2 to upgrade; at most 1 out of rotation at once')
    expect(first.stdout).toMatch(/web-1 +upgrade +app: localhost\/app:v1 → localhost\/app:v2 +edge: web\/web-1@\S+ +in rotation/)
    expect(first.stdout).toContain('The template of statefulset/web is patched first: app: localhost/app:v1 → localhost/app:v2')
    expect(first.stdout).toContain('edge (haproxy) G1: one drain and one restore per pod, in order')
    expect(await traceOf(bed!)).toEqual(before)

    await upgrade('pod/web-1', 'app=localhost/app:v2')
    expect(await images()).toEqual({ 'web-0': 'localhost/app:v1', 'web-1': 'localhost/app:v2' })
    expect(effects()).toEqual(onceEach(['web-1']))

    await upgrade(...selected)
    expect(await images()).toEqual({ 'web-0': 'localhost/app:v2', 'web-1': 'localhost/app:v2' })
    expect(effects()).toEqual(onceEach(['web-0', 'web-1']))

    // The pods have the image already: nothing is written to HAProxy or to the pods.
    const there = await traceOf(bed!)
    const said = bed!.haproxy.recorder.effects().length
    const last = await plan(...selected)
    expect(last.code, last.stderr).toBe(0)
    expect(last.stdout).toContain('2 to skip')
    const { code, stdout } = await bed!.start(['upgrade', ...selected], { jsonl: false }).exit
    expect(code, stdout).toBe(0)
    const after = await traceOf(bed!)
    expect(bed!.haproxy.recorder.effects()).toHaveLength(said)
    expect(after.pods).toEqual(there.pods)
    expect(after.owners).toEqual(there.owners)
    expect(after.writes.filter((write) => write === 'patch pods')).toEqual(there.writes.filter((write) => write === 'patch pods'))
  })

  it('brings pods to the template that somebody else has changed, where no image is named', async () => {
    const name = 'by-template'
    const { effects } = await startSet(name, 2)
    const patch = [{ op: 'replace', path: '/spec/template/spec/containers/0/image', value: 'localhost/app:v2' }]
    await cluster().api.patch('StatefulSet', 'web', name, patch)
    await upgrade('statefulset/web')
    expect(await images()).toEqual({ 'web-0': 'localhost/app:v2', 'web-1': 'localhost/app:v2' })
    expect(effects()).toEqual(onceEach(['web-0', 'web-1']))
    const set = await cluster().api.get('StatefulSet', 'web', name)
    expect(set.status.updatedReplicas).toBe(2)
    // The template has the image already, and is not written again.
    expect(await bed!.audit({ verb: 'patch', resource: 'statefulsets' })).toEqual([])
  })

  it('refuses a Deployment until its drift is accepted, and never writes its template', async () => {
    const name = 'by-deployment'
    bed = await startUpgradeBed(cluster(), {
      name,
      objects: [deployment({ name: 'web', namespace: name, replicas: 2 })],
      app: 'web',
      count: 2,
    })
    const pods = (await bed.pods()).map(({ metadata }) => metadata.name as string)
    const before = await traceOf(bed)
    const refused = await bed.start(['upgrade', 'deploy/web', 'app=localhost/app:v2'], { jsonl: false }).exit
    expect(refused.code).toBe(3)
    expect(refused.stdout).toContain('--accept-template-drift')
    expect(await traceOf(bed)).toEqual(before)

    await upgrade('deploy/web', 'app=localhost/app:v2', '--accept-template-drift')
    expect(Object.values(await images())).toEqual(['localhost/app:v2', 'localhost/app:v2'])
    expect(bed.effects()).toEqual(onceEach(pods))
    // The pods are the same, and so is the template.
    expect((await bed.pods()).map(({ metadata }) => metadata.name)).toEqual(pods)
    const [owner] = (await traceOf(bed)).owners as KubeObject[]
    expect(owner.spec.template.spec.containers[0].image).toBe('localhost/app:v1')
  })
})
