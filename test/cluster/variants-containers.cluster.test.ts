import { afterEach, expect, it } from 'vitest'
import { onceEach } from './judge.ts'
import type { KubeObject } from './kube-api.ts'
import { pod, statefulSet } from './manifests.ts'
import { describeOnCluster } from './shared-cluster.ts'
import type { UpgradeBed } from './upgrade-bed.ts'
import { startUpgradeBed } from './upgrade-bed.ts'

describeOnCluster('containers of all sorts, under traffic', (cluster) => {
  let bed: UpgradeBed | undefined

  afterEach(async () => {
    await bed?.stop()
    bed = undefined
  })

  /** Upgrades without a failed request. Returns what each pod's containers run afterwards, by container. */
  async function upgrade(...args: string[]): Promise<Record<string, Record<string, Ran>>> {
    const before = containersOf(await bed!.pods())
    const traffic = await bed!.traffic()
    const { code, stderr, stdout } = await bed!.upgrade(...args)
    const { failed, byKind } = await traffic.stop()
    expect(code, stderr || stdout).toBe(0)
    expect(failed, JSON.stringify(byKind)).toBe(0)
    return compare(before, containersOf(await bed!.pods()))
  }

  it('restarts on the same digest under a new tag', async () => {
    const name = 'same-digest'
    const objects = [statefulSet({ name: 'web', namespace: name, replicas: 2, image: 'localhost/app:v2' })]
    bed = await startUpgradeBed(cluster(), { name, objects, app: 'web', count: 2 })
    const ids = (await bed.pods()).map(({ status }) => status.containerStatuses[0].imageID)
    const ran = await upgrade('sts/web', 'app=localhost/app:v2-again')
    expect(ran).toEqual({
      'web-0': { app: { image: 'localhost/app:v2-again', restarted: true } },
      'web-1': { app: { image: 'localhost/app:v2-again', restarted: true } },
    })
    // The digest is unchanged: only the ID of the container shows the restart.
    expect((await bed.pods()).map(({ status }) => status.containerStatuses[0].imageID)).toEqual(ids)
    expect(bed.effects()).toEqual(onceEach(['web-0', 'web-1']))
  })

  it('upgrades pods without a readiness probe, that Kubernetes calls ready throughout', async () => {
    const name = 'no-probe'
    bed = await startUpgradeBed(cluster(), {
      name,
      objects: [statefulSet({ name: 'web', namespace: name, replicas: 2, probe: false })],
      app: 'web',
      count: 2,
      // A process takes its time to listen, which no probe reports here.
      config: { rollout: { readyFor: '3s' } },
    })
    await waitUntilServing(bed)
    await upgrade('sts/web', 'app=localhost/app:v2')
    expect(bed.effects()).toEqual(onceEach(['web-0', 'web-1']))
  })

  it('waits for readyFor where no probe tells when the application is up', async () => {
    const name = 'ready-for'
    const objects = [statefulSet({ name: 'web', namespace: name, replicas: 2, probe: false, readyAfter: 3 })]
    bed = await startUpgradeBed(cluster(), { name, objects, app: 'web', count: 2, config: { rollout: { readyFor: '6s' } } })
    await waitUntilServing(bed)
    await upgrade('sts/web', 'app=localhost/app:v2')
    expect(bed.effects()).toEqual(onceEach(['web-0', 'web-1']))

    // Negative control: without readyFor, the same pods do fail requests after Ready.
    const traffic = await bed.traffic({ expectFailures: true })
    const { code } = await bed.upgrade('sts/web', 'app=localhost/app:v3', '--ready-for', '0s')
    expect(code).toBe(0)
    expect((await traffic.stop()).failed).toBeGreaterThan(0)
  })

  it('waits out a preStop of 3 s', async () => {
    const name = 'pre-stop'
    const objects = [
      statefulSet({ name: 'web', namespace: name, replicas: 2, preStopSeconds: 3, terminationGracePeriodSeconds: 6 }),
    ]
    bed = await startUpgradeBed(cluster(), { name, objects, app: 'web', count: 2 })
    await upgrade('sts/web', 'app=localhost/app:v2')
    expect(bed.effects()).toEqual(onceEach(['web-0', 'web-1']))
  })

  it('upgrades two containers whose order in the spec is not that of the status, both and only one', async () => {
    const name = 'two-containers'
    const set = statefulSet({ name: 'web', namespace: name, replicas: 2, sidecar: 'localhost/sidecar:v1' })
    set.spec.template.spec.containers.reverse()
    bed = await startUpgradeBed(cluster(), { name, objects: [set], app: 'web', count: 2 })
    const [one] = await bed.pods()
    expect(one.spec.containers.map((container: KubeObject) => container.name)).toEqual(['sidecar', 'app'])
    expect(one.status.containerStatuses.map((container: KubeObject) => container.name)).toEqual(['app', 'sidecar'])

    const both = {
      app: { image: 'localhost/app:v2', restarted: true },
      sidecar: { image: 'localhost/sidecar:v2', restarted: true },
    }
    expect(await upgrade('sts/web', 'app=localhost/app:v2', 'sidecar=localhost/sidecar:v2')).toEqual({
      'web-0': both,
      'web-1': both,
    })
    const onlyOne = {
      ...both,
      sidecar: { image: 'localhost/sidecar:v1', restarted: true },
      app: { ...both.app, restarted: false },
    }
    expect(await upgrade('sts/web', 'sidecar=localhost/sidecar:v1')).toEqual({ 'web-0': onlyOne, 'web-1': onlyOne })
    expect(bed.effects()).toEqual(onceEach(['web-0', 'web-1'], 2))
  })

  it('upgrades a bare pod with a sidecar: only the application, then only the sidecar', async () => {
    const name = 'bare-pods'
    // The second pod serves meanwhile.
    const objects = ['web-a', 'web-b'].map((one) =>
      pod({ name: one, namespace: name, sidecar: 'localhost/sidecar:v1', labels: { app: 'web' } }),
    )
    bed = await startUpgradeBed(cluster(), { name, objects, app: 'web', count: 2 })
    const untouched = {
      app: { image: 'localhost/app:v1', restarted: false },
      sidecar: { image: 'localhost/sidecar:v1', restarted: false },
    }
    expect(await upgrade('pod/web-a', 'app=localhost/app:v2')).toEqual({
      'web-a': { ...untouched, app: { image: 'localhost/app:v2', restarted: true } },
      'web-b': untouched,
    })
    expect(await upgrade('pod/web-a', 'sidecar=localhost/sidecar:v2')).toEqual({
      'web-a': {
        app: { image: 'localhost/app:v2', restarted: false },
        sidecar: { image: 'localhost/sidecar:v2', restarted: true },
      },
      'web-b': untouched,
    })
    expect(bed.effects()).toEqual(onceEach(['web-a'], 2))
  })

  it('changes a sidecar that drain.notFor names while its pod is in rotation, and drains the pod for the application', async () => {
    const name = 'not-for'
    const objects = [statefulSet({ name: 'web', namespace: name, replicas: 2, sidecar: 'localhost/sidecar:v1' })]
    bed = await startUpgradeBed(cluster(), { name, objects, app: 'web', count: 2, config: { drain: { notFor: ['sidecar'] } } })
    const sidecarAlone = {
      app: { image: 'localhost/app:v1', restarted: false },
      sidecar: { image: 'localhost/sidecar:v2', restarted: true },
    }
    expect(await upgrade('sts/web', 'sidecar=localhost/sidecar:v2')).toEqual({ 'web-0': sidecarAlone, 'web-1': sidecarAlone })
    expect(bed.effects()).toEqual({})
    await upgrade('sts/web', 'app=localhost/app:v2', 'sidecar=localhost/sidecar:v1')
    expect(bed.effects()).toEqual(onceEach(['web-0', 'web-1']))
  })
})

interface Ran {
  image: string
  restarted: boolean
}

/** The container IDs and images, by pod and container. */
type Containers = Map<string, Map<string, { id: string; image: string }>>

function containersOf(pods: KubeObject[]): Containers {
  return new Map(
    pods.map(({ metadata, spec, status }) => {
      const ids = new Map<string, string>(
        status.containerStatuses.map((one: KubeObject) => [one.name, one.containerID] as [string, string]),
      )
      const containers = spec.containers as { name: string; image: string }[]
      return [metadata.name, new Map(containers.map(({ name, image }) => [name, { id: ids.get(name) ?? '', image }]))]
    }),
  )
}

function compare(before: Containers, after: Containers): Record<string, Record<string, Ran>> {
  return Object.fromEntries(
    [...after].map(([name, containers]) => [
      name,
      Object.fromEntries(
        [...containers].map(([container, { id, image }]) => [
          container,
          { image, restarted: before.get(name)?.get(container)?.id !== id },
        ]),
      ),
    ]),
  )
}

/** Waits until every server answers: without a probe, Kubernetes calls a pod ready before it serves. */
async function waitUntilServing({ cluster, haproxy }: UpgradeBed): Promise<void> {
  await cluster.api.waitFor(
    'every server to answer',
    async () => {
      const answers = await Promise.all(
        Array.from({ length: 4 }, () => cluster.exec('curl', ['-s', '-o', '/dev/null', '-w', '%{http_code}', haproxy.url])),
      )
      return answers.map(({ stdout }) => stdout)
    },
    (codes) => codes.every((code) => code === '200'),
  )
}
