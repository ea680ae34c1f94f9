import type { Context } from './context.ts'
import type { EndpointObjectKind } from './events.ts'
import type { ControllerManager } from './controller-manager.ts'
import { BACKLOG_AFTER_MS, BACKLOG_GROWTH, BACKLOG_LAGS, BACKLOG_SERVICES } from './limits.ts'

/** The queue of one endpoint controller, as far as it can be told from outside: its keys are Services. */
export interface Backlog {
  /** A pod of the Service has changed, and its endpoints have not. */
  waits(service: string): void
  /** They have followed, after so long; or the change was taken back. */
  followed(service: string, lagMs: number | undefined): void
  /** The controller has written them, whatever it has made of the change: they are in the queue no more. */
  written(service: string): void
  /** What was so is not known any more: nothing is found of those that wait. */
  forget(): void
  /** What is so is known again. */
  review(): void
  /** How many Services wait, the first of them for how long. */
  size(): { services: number; oldestMs: number }
  /** Tells what there is of one that is under way. */
  end(): void
}

const LOOK_EVERY_MS = 1_000
/** The rate is that of so long. */
const RATE_OVER_MS = 30_000

/** `isKnown`: pods and objects are told as they change. */
export function createBacklog(
  context: Context,
  cluster: string,
  object: EndpointObjectKind,
  manager: ControllerManager,
  isKnown: () => boolean,
): Backlog {
  /** The first is the one that waits the longest. */
  const waiting = new Map<string, { since: number; changes: number }>()
  let lags: { at: number; lagMs: number }[] = []
  let most: { services: number; oldestMs: number } | undefined
  let willLook = false

  function oldestMs(): number {
    const [first] = waiting.values()
    return first === undefined ? 0 : context.now() - first.since
  }

  const sizeNow = () => ({ services: waiting.size, oldestMs: oldestMs() })

  /** A queue that keeps up has nothing that waits longer than what was followed before. */
  function isGrowing(): boolean {
    const mean = lags.length === 0 ? 0 : lags.reduce((sum, { lagMs }) => sum + lagMs, 0) / lags.length
    return oldestMs() > mean * BACKLOG_GROWTH
  }

  function tell(isOver: boolean, size: { services: number; oldestMs: number }): void {
    const recent = lags.filter(({ at }) => context.now() - at <= RATE_OVER_MS)
    const spanMs = recent.length < 2 ? 0 : recent.at(-1)!.at - recent[0]!.at
    const perSecond = spanMs === 0 ? 0 : Math.round(((recent.length - 1) / spanMs) * 10_000) / 10
    const drainMs = perSecond === 0 || isOver ? undefined : Math.round((waiting.size / perSecond) * 1000)
    const about = `${cluster}/${object}`
    context.find(
      {
        code: 'backlog',
        cluster,
        object,
        ...size,
        lagMs: lags.at(-1)?.lagMs ?? 0,
        perSecond,
        ...(drainMs === undefined ? {} : { drainMs }),
        ...manager.saysOf(object),
        isOver,
      },
      about,
    )
    if (isOver) context.over('backlog', about)
  }

  function look(): void {
    if (!isKnown()) return
    const size = sizeNow()
    if (most !== undefined) {
      most = { services: Math.max(most.services, size.services), oldestMs: Math.max(most.oldestMs, size.oldestMs) }
      if (waiting.size >= BACKLOG_SERVICES / 2) return
      tell(true, most)
      most = undefined
    } else if (size.services >= BACKLOG_SERVICES && size.oldestMs >= BACKLOG_AFTER_MS && isGrowing()) {
      most = size
      tell(false, size)
    }
  }

  function lookLater(): void {
    if (willLook || waiting.size < BACKLOG_SERVICES) return
    willLook = true
    context.later(context.now() + LOOK_EVERY_MS, () => {
      willLook = false
      look()
      lookLater()
    })
  }

  return {
    waits(service) {
      const known = waiting.get(service)
      if (known === undefined) waiting.set(service, { since: context.now(), changes: 1 })
      else known.changes += 1
      lookLater()
    },
    followed(service, lagMs) {
      const known = waiting.get(service)
      // Looked at before it leaves: the oldest is the one that has waited until now.
      look()
      if (known !== undefined) {
        known.changes -= 1
        if (known.changes === 0) waiting.delete(service)
      }
      if (lagMs !== undefined) {
        lags.push({ at: context.now(), lagMs })
        if (lags.length > BACKLOG_LAGS) lags.shift()
      }
      look()
    },
    written(service) {
      if (waiting.delete(service)) look()
    },
    forget() {
      waiting.clear()
      lags = []
    },
    review: look,
    size: sizeNow,
    end() {
      if (most !== undefined && isKnown()) tell(false, sizeNow())
    },
  }
}
