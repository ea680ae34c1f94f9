import { setTimeout as sleep } from 'node:timers/promises'
import { askHaproxy, readServerStates } from '../test/cluster/haproxy-socket.ts'
import type { KubeObject } from '../test/cluster/kube-api.ts'
import type { UpgradeBed } from '../test/cluster/upgrade-bed.ts'
import { isReady } from '../test/cluster/workloads.ts'

/* Upgrade methods in common use, for a comparison with sluice. Both know the pods, and patch the image only. */

const GUESSED_DRAIN_MS = 7_000
const AGGREGATION_MS = 2_000
const POLL_MS = 1_000

/** Upgrades pod by pod: drain, poll until no request is in flight, patch, poll until the new container is ready, restore. */
export async function sequentialScript(bed: UpgradeBed, image: string): Promise<void> {
  for (const name of await podNames(bed)) {
    const before = await readPod(bed, name)
    await setState(bed, name, 'drain')
    await pollUntil(async () => (await scur(bed, name)) === 0)
    await patchImage(bed, name, image)
    await pollUntil(async () => isReadyAnew(before, await readPod(bed, name)))
    await setState(bed, name, 'ready')
  }
}

/**
 * Upgrades by drain, a wait for the usual duration of a request, and a patch. A loop of its own admits and drains by Ready every two
 * seconds. The next pod begins when the former is ready again and admitted.
 */
export async function aggregation(bed: UpgradeBed, image: string): Promise<void> {
  const patched = new Set<string>()
  const ending = new AbortController()
  const loop = (async () => {
    while (!ending.signal.aborted) {
      for (const name of patched) {
        const [ready, out] = [isReady(await readPod(bed, name)), await isOut(bed, name)]
        if (ready && out) await setState(bed, name, 'ready')
        if (!ready && !out) await setState(bed, name, 'drain')
      }
      await sleep(AGGREGATION_MS)
    }
  })()
  try {
    for (const name of await podNames(bed)) {
      const before = await readPod(bed, name)
      await setState(bed, name, 'drain')
      await sleep(GUESSED_DRAIN_MS)
      await patchImage(bed, name, image)
      patched.add(name)
      await pollUntil(async () => isReadyAnew(before, await readPod(bed, name)) && !(await isOut(bed, name)))
    }
  } finally {
    ending.abort()
    await loop
  }
}

async function podNames(bed: UpgradeBed): Promise<string[]> {
  return (await bed.pods()).map(({ metadata }) => metadata.name as string).toReversed()
}

function readPod({ cluster, namespace }: UpgradeBed, name: string): Promise<KubeObject> {
  return cluster.api.get('Pod', name, namespace)
}

function patchImage({ cluster, namespace }: UpgradeBed, name: string, image: string): Promise<unknown> {
  return cluster.api.patch('Pod', name, namespace, [{ op: 'replace', path: '/spec/containers/0/image', value: image }])
}

function isReadyAnew(before: KubeObject, now: KubeObject): boolean {
  return isReady(now) && now.status.containerStatuses[0].containerID !== before.status.containerStatuses[0].containerID
}

function setState({ haproxy }: UpgradeBed, name: string, state: 'drain' | 'ready'): Promise<string> {
  return askHaproxy(haproxy.recorder.socket, `set server web/${name} state ${state}`)
}

async function isOut({ haproxy }: UpgradeBed, name: string): Promise<boolean> {
  const states = await readServerStates(haproxy.adminSocket)
  return states.some(({ server, adminState }) => server === name && adminState !== 0)
}

async function scur({ haproxy }: UpgradeBed, name: string): Promise<number> {
  const rows = (await askHaproxy(haproxy.adminSocket, 'show stat -1 4 -1')).split('\n')
  const cells = rows.find((row) => row.startsWith(`web,${name},`))?.split(',') ?? []
  return Number(cells[4])
}

async function pollUntil(done: () => Promise<boolean>): Promise<void> {
  while (!(await done())) await sleep(POLL_MS)
}
