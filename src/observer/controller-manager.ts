import type { Context } from './context.ts'
import type { ClusterEvent, EndpointObjectKind } from './events.ts'
import { MANAGER_FRESH_MS } from './limits.ts'
import type { ObserverFindingOf } from './told.ts'

type MetricsEvent = Extract<ClusterEvent, { type: 'manager-metrics' }>

/** The last metrics of the controller manager. */
export interface ControllerManager {
  take(event: MetricsEvent): void
  /** Returns the fields of a backlog that the metrics give, or none where the metrics were not read within the last 20 s. */
  saysOf(object: EndpointObjectKind): Pick<ObserverFindingOf<'backlog'>, 'workqueueDepth' | 'putsPerSecond'>
}

export function createControllerManager(context: Context): ControllerManager {
  let last: MetricsEvent | undefined
  let putsPerSecond: number | undefined

  return {
    take(event) {
      const spanMs = last === undefined ? 0 : event.at - last.at
      // A controller manager that was restarted counts from 0 again.
      const isSameCount = last !== undefined && spanMs > 0 && event.puts >= last.puts
      putsPerSecond = isSameCount ? Math.round(((event.puts - last!.puts) / spanMs) * 10_000) / 10 : undefined
      last = event
    },
    saysOf(object) {
      if (last === undefined || context.now() - last.at > MANAGER_FRESH_MS) return {}
      const depth = last.queued[object]
      return {
        ...(depth === undefined ? {} : { workqueueDepth: depth }),
        ...(putsPerSecond === undefined ? {} : { putsPerSecond }),
      }
    },
  }
}
