import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { shortId } from '../../src/journal/account.ts'
import type { Report } from '../../src/report/report.ts'
import { daemonSet, service, statefulSet } from './manifests.ts'
import { describeOnCluster } from './shared-cluster.ts'
import type { UpgradeBed } from './upgrade-bed.ts'
import { startUpgradeBed } from './upgrade-bed.ts'
import { versionFacts } from './version-facts.ts'

const MOST_LISTS = 12

describeOnCluster('upgrade behind HAProxy under traffic', (cluster) => {
  let bed: UpgradeBed | undefined

  afterEach(async () => {
    await bed?.stop()
    bed = undefined
  })

  it('brings a 3-pod StatefulSet from v1 to v2 to v3 without a failed request', async () => {
    const name = 'upgrade-web'
    const { proofs } = versionFacts(cluster().info.kubernetes)
    const objects = [statefulSet({ name: 'web', namespace: name, readyAfter: 1 }), service({ name: 'web', namespace: name })]
    bed = await startUpgradeBed(cluster(), { name, objects, app: 'web', count: 3 })
    const traffic = await bed.traffic()
    const since = Date.now()
    const folder = await mkdtemp(join(tmpdir(), 'sluice-report-'))
    const files = ['html', 'json'].map((ending) => join(folder, `report.${ending}`))
    const before = await bed.pods()

    for (const image of ['localhost/app:v2', 'localhost/app:v3']) {
      const reports = files.flatMap((file) => ['--report', file])
      const { code, result, stderr } = await bed.upgrade('statefulset/web', `app=${image}`, ...reports)
      expect(code, stderr).toBe(0)
      expect(result?.pods.map(({ pod, outcome, proof }) => ({ pod, outcome, proof }))).toEqual(
        ['web-2', 'web-1', 'web-0'].map((pod) => ({ pod, outcome: 'upgraded', proof: expect.toBeOneOf(proofs) })),
      )
      const set = await cluster().api.get('StatefulSet', 'web', name)
      expect(set.status.updatedReplicas).toBe(3)
      for (const pod of await bed.pods()) {
        expect(pod.spec.containers[0].image).toBe(image)
        expect(pod.metadata.labels['controller-revision-hash']).toBe(set.status.updateRevision)
      }
    }

    const { requests, failed, byKind, byVersion } = await traffic.stop()
    expect(failed, JSON.stringify(byKind)).toBe(0)
    expect(requests).toBeGreaterThan(0)
    expect(Object.keys(byVersion).sort()).toEqual(['v1', 'v2', 'v3'])
    expect(bed.effects()).toEqual({
      'web-0': ['drain', 'ready', 'drain', 'ready'],
      'web-1': ['drain', 'ready', 'drain', 'ready'],
      'web-2': ['drain', 'ready', 'drain', 'ready'],
    })
    // All commands were effective: no command was repeated.
    expect(bed.haproxy.recorder.effects()).toHaveLength(12)

    const audit = await bed.audit({ since })
    const count = (verb: string, resource: string, subresource = ''): number =>
      audit.filter(({ verb: was, objectRef }) => {
        return was === verb && objectRef?.resource === resource && (objectRef.subresource ?? '') === subresource
      }).length
    const dryRuns = audit.filter((event) => event.requestURI.includes('dryRun=All')).length
    expect({
      patches: count('patch', 'pods') - dryRuns,
      statusPatches: count('patch', 'pods', 'status'),
      dryRuns,
      gets: count('get', 'pods'),
    }).toEqual({
      // The patches are images and restore intent; the status patches are drain intent and close.
      patches: 2 * 3 * 2,
      statusPatches: 2 * 3 * 2,
      dryRuns: 2 * 3,
      gets: 0,
    })
    // Each run lists once. On a slow machine a watch may be silent for seconds, and is then compared with another list.
    for (const resource of ['pods', 'statefulsets', 'controllerrevisions', 'endpointslices'])
      expect(count('list', resource), resource).toSatisfy((lists: number) => lists >= 2 && lists <= MOST_LISTS)
    // Ledgers are listed for the plan, and by the owner of the Lease. The first run lists them once more to look for an earlier owner.
    expect(count('list', 'configmaps')).toBe(2 * 2 + 1)
    // The header is written last, by itself. The data for the report is in the write that closes the run.
    expect({ made: count('create', 'configmaps'), patched: count('patch', 'configmaps') }).toEqual({ made: 2, patched: 2 * 2 })

    const report = JSON.parse(await readFile(files[1]!, 'utf8')) as Report
    expect(await readFile(files[0]!, 'utf8')).toContain(`"run":"${report.run}"`)
    expect(report).toMatchObject({ outcome: 'done', window: 1, missing: [], warnings: [] })
    // The reported effects are the second run's half of the calls that HAProxy has received, in this order.
    const reported = report.pods
      .flatMap(({ pod, effects }) => effects.map((effect) => ({ ...effect, pod })))
      .toSorted((a, b) => (a.at < b.at ? -1 : 1))
    expect(reported.map(({ pod, effect, outcome, repeated }) => ({ pod, effect, outcome, repeated }))).toEqual(
      bed.haproxy.recorder
        .effects()
        .slice(6)
        .map(({ server, kind }) => ({
          pod: server,
          effect: kind === 'ready' ? 'restore' : kind,
          outcome: 'done',
          repeated: false,
        })),
    )
    for (const { effect, evidence } of reported)
      expect(evidence).toMatchObject([
        effect === 'drain' ? { code: 'read-back-as-out' } : { code: 'read-back-as-before', prior: { state: 'ready' } },
      ])
    for (const pod of await bed.pods()) {
      const { images, proof, restarts, phases } = report.pods.find(({ uid }) => uid === pod.metadata.uid)!
      expect({ images, proof }).toEqual({
        images: [{ container: 'app', from: 'localhost/app:v2', to: 'localhost/app:v3' }],
        proof: expect.toBeOneOf(proofs),
      })
      const [{ containerID }] = pod.status.containerStatuses
      const [restart] = restarts
      expect(restart?.containerId.to).toBe(shortId(containerID))
      const first = before.find(({ metadata }) => metadata.uid === pod.metadata.uid)!.status.containerStatuses[0].containerID
      expect([shortId(first), restart?.containerId.to]).not.toContain(restart?.containerId.from)
      expect(phases.map(({ state }) => state)).toEqual(
        expect.arrayContaining(['draining', 'emptying', 'patching', 'restarting', 'restoring']),
      )
    }

    // The report outlives its process: the newest run has one, and so has the run before.
    const kept = await bed.start(['report', 'statefulset/web', '-o', 'json'], { jsonl: false }).exit
    expect(kept.code, kept.stderr).toBe(0)
    const again = JSON.parse(kept.stdout) as Report
    const essence = ({ pods, ...run }: Report) => ({
      run: { run: run.run, outcome: run.outcome, images: run.images, loadBalancers: run.loadBalancers },
      pods: pods.map(({ uid, effects, restarts, proof, outcome, images, phases }) => ({
        uid,
        effects,
        restarts,
        proof,
        outcome,
        images,
        phases: phases.map(({ state, fromAt, toAt }) => ({ state, fromAt, toAt })),
      })),
    })
    expect(essence(again)).toEqual(essence(report))
    const list = await bed.start(['report', '-o', 'json'], { jsonl: false }).exit
    const { runs } = JSON.parse(list.stdout) as { runs: { run: string; outcome: string }[] }
    expect(runs.map(({ outcome }) => outcome)).toEqual(['done', 'done'])
    expect(runs[0]!.run).toBe(report.run)
    const none = await bed.start(['report', 'nosuchrun'], { jsonl: false }).exit
    expect(none.code).toBe(3)
    await rm(folder, { recursive: true })
  })

  it('fails requests where the same images are patched without a drain (negative control)', async () => {
    const name = 'upgrade-undrained'
    bed = await startUpgradeBed(cluster(), {
      name,
      objects: [statefulSet({ name: 'web', namespace: name, readyAfter: 1 })],
      app: 'web',
      count: 3,
    })
    const traffic = await bed.traffic({ expectFailures: true })
    for (const { metadata } of await bed.pods()) {
      await cluster().api.patch('Pod', metadata.name, name, [
        { op: 'replace', path: '/spec/containers/0/image', value: 'localhost/app:v2' },
      ])
    }
    await cluster().api.waitFor(
      'the second version',
      () => cluster().api.list('Pod', name, 'app=web'),
      (pods) =>
        pods.every(
          ({ status }) => status.containerStatuses?.[0]?.image === 'localhost/app:v2' && status.containerStatuses[0].ready,
        ),
      { timeoutMs: 60_000 },
    )
    const { failed } = await traffic.stop()
    expect(failed).toBeGreaterThan(0)
  })

  it('upgrades a DaemonSet, whose owner counts its pod as updated', async () => {
    const name = 'upgrade-daemon'
    bed = await startUpgradeBed(cluster(), {
      name,
      objects: [daemonSet({ name: 'web', namespace: name, readyAfter: 1 })],
      app: 'web',
      count: 1,
    })
    const { code, stderr } = await bed.upgrade('ds/web', 'app=localhost/app:v2')
    expect(code, stderr).toBe(0)
    const [pod] = await bed.pods()
    expect(bed.effects()).toEqual({ [pod.metadata.name]: ['drain', 'ready'] })
    await cluster().api.waitForObject('DaemonSet', 'web', name, ({ status }) => status.updatedNumberScheduled === 1)
  })
})
