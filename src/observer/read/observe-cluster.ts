import { reasonOf } from '../../engine/errors.ts'
import type { KubeClient } from '../../kube/client.ts'
import { pause } from '../../kube/pause.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Random } from '../../ports/random.ts'
import type { Bound } from './bound.ts'
import { pollManager } from './poll-manager.ts'
import type { Listener } from './records.ts'
import { type ClusterWatch, type Unstamped, watchCluster } from './watch-cluster.ts'
import { type UnstampedLease, watchLeases } from './watch-leases.ts'

/** A way to a cluster. */
export interface OpenedCluster {
  client: KubeClient
  /** Absent: all namespaces. */
  namespace?: string
  /** What its controller manager tells Prometheus, where that is to be read. Rejects where it cannot be had. */
  managerMetrics?: () => Promise<string>
  close?(): Promise<void>
}

export interface ObservedCluster {
  name: string
  /** Rejects where there is no way to it now; it is asked for again later. */
  open(signal: AbortSignal): Promise<OpenedCluster>
}

export interface ClusterPorts {
  /** Held while the cluster is opened and its pods are listed. */
  bound: Bound
  clock: Clock
  random: Random
  signal: AbortSignal
  emit(event: Unstamped): void
  /** Where it is there, Leases are watched. */
  emitLease: ((change: UnstampedLease) => void) | undefined
  /** The first try to open it has failed. */
  failed(error: unknown): void
}

/** A kubeconfig may be mended, and a plugin be given what it needs. */
const AGAIN_AFTER_MS = 30_000

/** Opens a cluster, again and again until it can be had, and watches it until the signal. */
export function observeCluster(
  { open }: ObservedCluster,
  { bound, clock, random, signal, emit, emitLease, failed }: ClusterPorts,
): ClusterWatch {
  const podsKnown = Promise.withResolvers<void>()
  signal.addEventListener('abort', () => podsKnown.resolve())
  let listeners = (): Listener[] => []

  async function observe(): Promise<void> {
    for (let isFirst = true; !signal.aborted; isFirst = false) {
      const leave = await bound.enter()
      try {
        if (signal.aborted) return
        const opened = await open(signal).catch((error: unknown) => {
          if (isFirst && !signal.aborted) {
            emit({ type: 'unreachable', because: reasonOf(error) })
            failed(error)
          }
        })
        if (opened === undefined) {
          podsKnown.resolve()
          leave()
          await pause(clock, AGAIN_AFTER_MS, signal)
          continue
        }
        await watchOpened(opened, leave)
      } finally {
        leave()
      }
    }
  }

  async function watchOpened({ client, namespace, managerMetrics, close }: OpenedCluster, leave: () => void): Promise<void> {
    try {
      const ports = { client, clock, random, signal }
      const watch = watchCluster(namespace, { ...ports, emit })
      listeners = watch.listeners
      const beside = [
        emitLease && watchLeases({ ...ports, emit: emitLease }),
        managerMetrics && pollManager(managerMetrics, { clock, signal, emit }),
      ]
      await watch.podsKnown
      podsKnown.resolve()
      leave()
      await Promise.all([watch.ended, ...beside])
      // Nothing more comes of a cluster without rights.
      if (!signal.aborted) await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
    } finally {
      await close?.()
    }
  }

  return { listeners: () => listeners(), podsKnown: podsKnown.promise, ended: observe() }
}
