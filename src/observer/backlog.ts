import type { Context } from './context.ts'
import type { EndpointObjectKind } from './events.ts'
import type { ControllerManager } from './controller-manager.ts'
import { BACKLOG_AFTER_MS, BACKLOG_GROWTH, BACKLOG_LAGS, BACKLOG_SERVICES } from './limits.ts'

/** An estimate, from outside, of the queue of one endpoint controller. The keys of that queue are Services. */
export interface Backlog {
  /** Notes that a pod of the Service has changed, and that its endpoints have not followed yet. */
  waits(service: string): void
  /** Notes that the endpoints have followed after `lagMs`. `lagMs` is undefined where the change was taken back. */
  followed(service: string, lagMs: number | undefined): void
  /** Notes that the controller has written the endpoints of the Service. The Service has then left the queue, whatever was written. */
  written(service: string): void
  /** Forgets all Services that wait: the cluster can no longer be read, so that their lags are unknown. */
  forget(): void
  /** Looks for a backlog again, once the cluster can be read. */
  review(): void
  /** Returns the number of Services that wait, and how long the first of them has waited. */
  size(): { services: number; oldestMs: number }
  /** Tells a backlog that is under way at the end of the observation. */
  end(): void
}

const LOOK_EVERY_MS = 1_000
/** The longest time over which `perSecond` is measured, from at most 20 lags. */
const RATE_OVER_MS = 30_000

/** `isKnown` returns whether the pods, the Services and the objects of this kind can be read. No finding is made while it is false. */
export function createBacklog(
  context: Context,
  cluster: string,
  object: EndpointObjectKind,
  manager: ControllerManager,
  isKnown: () => boolean,
): Backlog {
  /** The Services that wait, in the order in which they began to. */
  const waiting = new Map<string, { since: number; changes: number }>()
  let lags: { at: number; lagMs: number }[] = []
  let most: { services: number; oldestMs: number } | undefined
  let willLook = false

  function oldestMs(): number {
    const [first] = waiting.values()
    return first === undefined ? 0 : context.now() - first.since
  }

  const sizeNow = () => ({ services: waiting.size, oldestMs: oldestMs() })

  /** A queue grows where its first Service has waited longer than the last lags. */
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
      // The Service may be the one that has waited the longest, so that the queue is looked at before it leaves.
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
