import type { Warning } from '../../journal/account.ts'
import type { RunEvent } from '../../engine/events.ts'

export interface EventGate {
  take(event: RunEvent): void
  /** Shows the held events, and all later events at once. */
  open(): void
  runHasStarted(): boolean
  /** The standing order for the run. */
  order(): { order: 'pause' | 'abort'; by: string } | undefined
  readonly warnings: readonly Warning[]
}

/** Holds the events of the preparation until it is clear that a run follows. */
export function createEventGate(onEach: (event: RunEvent) => void, show: (event: RunEvent) => void): EventGate {
  const warnings: Warning[] = []
  let held: RunEvent[] | undefined = []
  let hasStarted = false
  let standing: ReturnType<EventGate['order']>
  return {
    warnings,
    take: (event) => {
      onEach(event)
      if (event.type === 'started') hasStarted = true
      if (event.type === 'ordered') standing = event.order === 'resume' ? undefined : { order: event.order, by: event.by }
      if (event.type === 'warning')
        warnings.push({ ...(event.pod === undefined ? {} : { pod: event.pod }), reason: event.reason })
      if (held === undefined) show(event)
      else held.push(event)
    },
    open: () => {
      const early = held ?? []
      held = undefined
      for (const event of early) show(event)
    },
    runHasStarted: () => hasStarted,
    order: () => standing,
  }
}
