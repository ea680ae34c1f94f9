import { setTimeout as sleep } from 'node:timers/promises'
import { journalStep } from '../journal.ts'
import type { KubeObject } from '../kube-api.ts'
import type { TrafficOptions, TrafficTotals } from '../traffic.ts'
import type { UpgradeBed } from '../upgrade-bed.ts'
import { isReady } from '../workloads.ts'
import type { History, PodAfter } from './judge.ts'

export interface WatchOptions {
  /** The workload as `kind/name`, as sluice takes it. */
  workload: string
  /** The pods, which are the servers of HAProxy. */
  pods: string[]
  image: string
  traffic?: Omit<TrafficOptions, 'url'>
}

/** One upgrade under traffic, with any number of processes: from its start to the history to judge. */
export interface WatchedUpgrade {
  /** The arguments of `sluice`. */
  readonly command: string[]
  readonly image: string
  /** Ends the traffic, and reads the final state. */
  end(): Promise<{ history: History; traffic: TrafficTotals }>
}

/** The time in which traffic shows whether a restored pod serves. */
const TAIL_MS = 400

export async function watchUpgrade(bed: UpgradeBed, options: WatchOptions): Promise<WatchedUpgrade> {
  const { workload, pods, image } = options
  const before = await bed.haproxy.states()
  const mark = bed.haproxy.recorder.effects().length
  const traffic = await bed.traffic(options.traffic)
  return {
    command: ['upgrade', workload, `app=${image}`],
    image,
    async end() {
      await sleep(TAIL_MS)
      const totals = await traffic.stop()
      const owner = await ownerOf(bed, workload)
      return {
        traffic: totals,
        history: {
          image,
          pods,
          effects: bed.haproxy.recorder.effects().slice(mark),
          before,
          after: await bed.haproxy.states(),
          requests: totals.requests,
          failures: totals.failures,
          podsAfter: (await bed.cluster.api.list('Pod', bed.namespace)).map((pod) => podAfter(pod)),
          ...(owner ? { owner } : {}),
          openLedgers: await openLedgers(bed),
          holder: await holderOf(bed, workload),
        },
      }
    },
  }
}

function podAfter(pod: KubeObject): PodAfter {
  const { metadata, spec, status } = pod
  return {
    name: metadata.name,
    image: spec.containers[0].image,
    running: status.containerStatuses?.[0]?.image,
    ready: isReady(pod),
    revision: metadata.labels['controller-revision-hash'],
    step: journalStep(pod),
  }
}

/** Returns the owner with its count, which follows the labels of the pods a moment later. */
async function ownerOf(bed: UpgradeBed, workload: string): Promise<History['owner']> {
  const [kind, name] = workload.split('/') as [string, string]
  if (kind !== 'statefulset') return undefined
  const read = (): Promise<KubeObject> => bed.cluster.api.get('StatefulSet', name, bed.namespace)
  const count = ({ status }: KubeObject): NonNullable<History['owner']> => ({
    updated: status.updatedReplicas ?? 0,
    replicas: status.replicas,
    revision: status.updateRevision,
  })
  let last = count(await read())
  for (let look = 0; look < 100 && last.updated !== last.replicas; look++) {
    await sleep(100)
    last = count(await read())
  }
  return last
}

async function openLedgers(bed: UpgradeBed): Promise<string[]> {
  const parts = await bed.cluster.api.list('ConfigMap', bed.namespace, 'sluice.dev/ledger')
  return parts.flatMap(({ data }) => {
    if (data?.header === undefined) return []
    const header = JSON.parse(data.header) as { run: string; finishedAt?: string }
    return header.finishedAt === undefined ? [header.run] : []
  })
}

async function holderOf(bed: UpgradeBed, workload: string): Promise<string> {
  const leases = await bed.cluster.api.list('Lease', bed.namespace)
  const lease = leases.find(({ metadata }) => metadata.name === `sluice-${workload.replace('/', '-')}`)
  return lease?.spec.holderIdentity ?? ''
}
