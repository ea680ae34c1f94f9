import { reasonOf } from '../../engine/errors.ts'
import type { KubeClient } from '../../kube/client.ts'
import { pause } from '../../kube/pause.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Random } from '../../ports/random.ts'
import type { Bound } from '../../kube/bound.ts'
import { pollManager } from './poll-manager.ts'
import type { Listener } from './records.ts'
import { type ClusterWatch, type Unstamped, watchCluster } from './watch-cluster.ts'
import { type UnstampedLease, watchLeases } from './watch-leases.ts'

/** A connection to a cluster. */
export interface OpenedCluster {
  client: KubeClient
  /** The namespace that is observed. Absent where all are. */
  namespace?: string
  /** Reads the metrics of the controller manager, in the text format of Prometheus. Rejects where they cannot be read. */
  managerMetrics?: () => Promise<string>
  close?(): Promise<void>
}

export interface ObservedCluster {
  name: string
  /** Connects the cluster. Rejects where that fails; the call is made again every 30 s. */
  open(signal: AbortSignal): Promise<OpenedCluster>
}

export interface ClusterPorts {
  /** A place of the bound is held while the cluster is opened and its pods are listed. */
  bound: Bound
  clock: Clock
  random: Random
  signal: AbortSignal
  emit(event: Unstamped): void
  /** Leases are watched where this is present. */
  emitLease: ((change: UnstampedLease) => void) | undefined
  /** Called where the first try to open the cluster fails. */
  failed(error: unknown): void
}

/** A kubeconfig or its plugin may be mended meanwhile. */
const AGAIN_AFTER_MS = 30_000

/** Tries to open the cluster until that succeeds, and watches it until the signal. */
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
      // Watches end with the signal alone. Should one end before it, the cluster is not opened anew.
      if (!signal.aborted) await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
    } finally {
      await close?.()
    }
  }

  return { listeners: () => listeners(), podsKnown: podsKnown.promise, ended: observe() }
}
