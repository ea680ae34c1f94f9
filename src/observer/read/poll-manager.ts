import { reasonOf } from '../../engine/errors.ts'
import { pause } from '../../kube/pause.ts'
import type { Clock } from '../../ports/clock.ts'
import type { EndpointObjectKind } from '../events.ts'
import type { Unstamped } from './watch-cluster.ts'

export interface ManagerPorts {
  clock: Clock
  signal: AbortSignal
  emit(event: Unstamped): void
}

const EVERY_MS = 5_000
const QUEUES: Readonly<Record<string, EndpointObjectKind>> = { endpoint: 'Endpoints', endpoint_slice: 'EndpointSlice' }
const DEPTH = /^workqueue_depth\{(?:[^}]*,)?name="(\w+)"[^}]*\} (\S+)$/gm
const PUTS = /^rest_client_requests_total\{[^}]*method="PUT"[^}]*\} (\S+)$/gm

/** Reads the metrics of a controller manager every 5 s. Resolves after the signal. */
export async function pollManager(read: () => Promise<string>, { clock, signal, emit }: ManagerPorts): Promise<void> {
  let isTold = false
  while (!signal.aborted) {
    try {
      const metrics = managerMetricsOf(await read())
      if (signal.aborted) return
      emit({ type: 'manager-metrics', ...metrics })
      isTold = false
    } catch (error) {
      if (signal.aborted) return
      if (!isTold) emit({ type: 'manager-metrics-unread', because: reasonOf(error) })
      isTold = true
    }
    await pause(clock, EVERY_MS, signal)
  }
}

/** Parses metrics in the text format of Prometheus. A controller manager that does not lead has no queues. */
export function managerMetricsOf(text: string): { queued: Partial<Record<EndpointObjectKind, number>>; puts: number } {
  const queued: Partial<Record<EndpointObjectKind, number>> = {}
  for (const [, name, depth] of text.matchAll(DEPTH)) {
    const kind = QUEUES[name!]
    if (kind !== undefined) queued[kind] = Number(depth)
  }
  const puts = [...text.matchAll(PUTS)].reduce((sum, [, count]) => sum + Number(count), 0)
  return { queued, puts }
}
