import { setTimeout as sleep } from 'node:timers/promises'
import { askHaproxy } from '../haproxy-socket.ts'
import { waitFor } from '../kube-api.ts'
import type { UpgradeBed } from '../upgrade-bed.ts'
import { isReady } from '../workloads.ts'
import type { FollowedEndpoints } from './follow-endpoints.ts'

/*
 * The way of the incident. A script drains a pod, waits for 7 s, changes its image, and takes Ready for the proof of the new container. Every
 * 2 s, a batch job puts each address that is ready into the load balancer, and drains each address that is not.
 */

export const MARK = 'release.example/updating'
const FIXED_WAIT_MS = 7_000
const BATCH_MS = 2_000

/** The batch job. It reads the EndpointSlices of the Service `web`. */
export interface Batch {
  /** Resolves right after a tick. */
  tick(): Promise<void>
  stop(): Promise<void>
}

export function startBatch(bed: UpgradeBed, followed: FollowedEndpoints): Batch {
  const stopping = new AbortController()
  let ticks = 0
  async function aggregate(): Promise<void> {
    const pods = followed.slices()
    for (const { server, adminState } of await bed.haproxy.states()) {
      const isIn = pods[server]?.at(-1) === 'in'
      if (isIn === (adminState !== 0)) await setState(bed, server, isIn ? 'ready' : 'drain')
    }
  }
  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      await aggregate()
      ticks += 1
      await sleep(BATCH_MS, undefined, { signal: stopping.signal }).catch(() => {})
    }
  }
  const running = run()
  return {
    async tick() {
      const before = ticks
      await waitFor(
        'the batch job',
        async () => ticks,
        (now) => now > before,
        { intervalMs: 10 },
      )
    },
    async stop() {
      stopping.abort()
      await running
    },
  }
}

/** Upgrades one pod, as the script does: it marks the pod, and ends with the mark taken away. Returns once the new container is ready. */
export async function upgradeNaively(bed: UpgradeBed, batch: Batch, pod: string, image: string): Promise<void> {
  const { api } = bed.cluster
  const before = await api.get('Pod', pod, bed.namespace)
  await batch.tick()
  await mark(bed, pod, 'true')
  await setState(bed, pod, 'drain')
  await sleep(FIXED_WAIT_MS)
  await api.patch('Pod', pod, bed.namespace, [{ op: 'replace', path: '/spec/containers/0/image', value: image }])
  // Right after the patch, Ready is still that of the old container.
  await api.waitForObject('Pod', pod, bed.namespace, isReady)
  await mark(bed, pod, null)
  await api.waitForObject(
    'Pod',
    pod,
    bed.namespace,
    (now) => isReady(now) && now.status.containerStatuses[0].containerID !== before.status.containerStatuses[0].containerID,
  )
  await untilServed(bed, pod)
}

/** The kubelet says nothing until the node lifecycle controller has taken Ready away from every pod, and for two batches more. */
export async function silenceNode(bed: UpgradeBed): Promise<void> {
  const { kubelet } = bed.cluster
  await kubelet.pause()
  try {
    await waitFor(
      'the loss of Ready',
      () => bed.cluster.api.list('Pod', bed.namespace, 'app=web'),
      (pods) => pods.every((pod) => !isReady(pod)),
    )
    await sleep(2 * BATCH_MS + 500)
  } finally {
    await kubelet.resume()
  }
  for (const { metadata } of await bed.pods()) await untilServed(bed, metadata.name)
}

async function untilServed(bed: UpgradeBed, pod: string): Promise<void> {
  await waitFor(
    `${pod} in the load balancer`,
    () => bed.haproxy.states(),
    (states) => states.find(({ server }) => server === pod)!.adminState === 0,
  )
}

/** Marks the pod, and has its endpoints written: a second look of the webhook comes only seconds later. */
async function mark({ cluster: { api }, namespace }: UpgradeBed, pod: string, value: string | null): Promise<void> {
  await api.patch('Pod', pod, namespace, { metadata: { annotations: { [MARK]: value } } })
  const touched = { metadata: { annotations: { 'release.example/touched': String(Date.now()) } } }
  for (const { metadata } of await api.list('EndpointSlice', namespace, 'kubernetes.io/service-name=web'))
    await api.patch('EndpointSlice', metadata.name, namespace, touched)
  await api.patch('Endpoints', 'web', namespace, touched)
}

function setState({ haproxy }: UpgradeBed, pod: string, state: 'drain' | 'ready'): Promise<string> {
  return askHaproxy(haproxy.recorder.socket, `set server web/${pod} state ${state}`)
}
