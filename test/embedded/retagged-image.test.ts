import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { serversApi } from '../../adapters/http/testing/servers-api.ts'
import { createLoadBalancer } from '../../demo/load-balancer/load-balancer.ts'
import { startEmbeddedCluster } from '../../sim/http/embedded-cluster.ts'
import { writeKubeconfig } from '../../sim/http/kubeconfig.ts'
import { isReady, type Pod } from '../../sim/kubelet/pod.ts'
import { type Child, startChild } from '../../src/cli/testing/child.ts'
import { appContainer, statefulSet } from './stateful-set.ts'

/*
 * A retagged image: the spec of a pod has `v2-again`, and its status shows `v2`, another tag of the same digest on the node. The pod is
 * drained and not patched, and has to be put back.
 */

// The Lease of a killed process has to run out.
vi.setConfig({ testTimeout: 180_000 })

const SCRIPT = join(import.meta.dirname, '../../src/cli/sluice.ts')
const PORT = 80
const POD = 'web-0'
const SECONDS = 'no change of a container for 60 s'
const DOUBT = `${POD}'s container app runs app:v2, and its spec asks for app:v2-again: put back once there is ${SECONDS}`
const ONCE_EACH = [`${POD} drain`, `${POD} ready`]

const cleanups: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

interface Bed {
  sluice(...args: string[]): Child
  /** Returns the writes in order, such as `web-0 drain`. */
  writes(): string[]
  pod(): Pod
}

async function openBed(kubelets: 'new' | 'before 1.34', settle = '3s'): Promise<Bed> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-retagged-'))
  cleanups.push(() => rm(folder, { recursive: true, force: true }))
  const images = { 'app:v2': { digest: 'sha256:2' }, 'app:v2-again': { digest: 'sha256:2' }, 'app:v3': { digest: 'sha256:3' } }
  const behaviour = { kubelet: { reportsNoGeneration: kubelets === 'before 1.34' } }
  const cluster = await startEmbeddedCluster({ nodes: 1, images, behaviour })
  cleanups.push(() => cluster.close())
  const kubeconfig = join(folder, 'kubeconfig')
  await writeKubeconfig(kubeconfig, cluster.url)
  cluster.apply(statefulSet('web', 1, [appContainer(PORT, 'app:v2-again')]))
  const pods = (): Pod[] => cluster.apiServer.store.list('pods', 'default') as Pod[]
  await vi.waitUntil(() => pods().length === 1 && pods().every(isReady), { timeout: 60_000, interval: 50 })
  const edge = await createLoadBalancer({ servers: [{ name: POD, address: `${pods()[0]!.status!.podIP!}:${PORT}` }] })
  cleanups.push(() => edge.close())
  const config = join(folder, 'sluice.yaml')
  const loadBalancers = [{ name: 'edge', adapter: 'http', port: PORT, options: serversApi(edge.adminUrl) }]
  // The time in which the pod is out and untouched.
  const drain = { settle }
  await writeFile(config, JSON.stringify({ apiVersion: 'sluice.dev/v1', kind: 'Config', loadBalancers, drain }))
  return {
    sluice(...args) {
      const child = startChild([SCRIPT, ...args, '--config', config, '--kubeconfig', kubeconfig])
      cleanups.push(async () => {
        if (!child.isOver()) child.process.kill('SIGKILL')
        await child.end()
      })
      return child
    },
    writes: () =>
      edge.calls.flatMap(({ method, path, body }) =>
        method === 'GET' ? [] : [`${path.split('/').at(-1)} ${(body as { state: string }).state}`],
      ),
    pod: () => pods()[0]!,
  }
}

/** Runs an upgrade to v3 until its pod is drained. */
async function drained({ sluice, writes }: Bed, ...flags: string[]): Promise<Child> {
  const upgrade = sluice('upgrade', 'statefulset/web', 'app=app:v3', ...flags)
  await upgrade.sees(`${POD} emptying`)
  expect(writes()).toEqual(ONCE_EACH.slice(0, 1))
  return upgrade
}

async function killed(upgrade: Child): Promise<void> {
  upgrade.process.kill('SIGKILL')
  await upgrade.end()
}

const containerOf = (pod: Pod): string | undefined => pod.status?.containerStatuses?.[0]?.containerID

test.each(['abort', 'undo'])(
  '%s puts the untouched pod back at once, where its kubelet reports the generation',
  async (command) => {
    const bed = await openBed('new')
    const before = containerOf(bed.pod())
    expect(bed.pod().status!.containerStatuses![0]).toMatchObject({ image: 'app:v2' })
    await killed(await drained(bed))
    const child = bed.sluice(command, 'statefulset/web')
    expect(await child.end(), child.stdout() + child.stderr()).toBe(0)
    expect(child.stdout()).not.toContain(SECONDS)
    expect(bed.writes()).toEqual(ONCE_EACH)
    expect([bed.pod().spec.containers[0]!.image, containerOf(bed.pod())]).toEqual(['app:v2-again', before])
  },
)

test('so does Ctrl-C, before the drain has settled', async () => {
  const bed = await openBed('new', '50s')
  // The grace is shorter than `settle`, and than the wait where only time ends the doubt.
  const upgrade = await drained(bed, '--grace', '40s')
  upgrade.process.kill('SIGINT')
  expect(await upgrade.end()).toBe(130)
  expect(upgrade.stdout()).toContain(`${POD} unchanged`)
  expect(bed.writes()).toEqual(ONCE_EACH)
})

test.each([
  { command: 'abort', told: DOUBT },
  // An undo continues the record of the drain, and waits for the proof of a restart.
  { command: 'undo', told: SECONDS },
])('$command tells the reason of its wait, and its seconds, where no generation is reported', async ({ command, told }) => {
  const bed = await openBed('before 1.34')
  await killed(await drained(bed))
  const child = bed.sluice(command, 'statefulset/web')
  await child.sees(told)
  expect(await child.end()).toBe(0)
  expect(bed.writes()).toEqual(ONCE_EACH)
})
