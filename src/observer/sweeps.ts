import type { Writer } from '../reasons/fields.ts'
import type { Context } from './context.ts'
import type { EndpointObjectKind } from './events.ts'
import { SWEEP_OBJECTS, SWEEP_WITHIN_MS } from './limits.ts'

/** Finds sweeps: many writes to one kind of object that change no address, no port and no hint. */
export interface Sweeps {
  rewritten(uid: string, by: Writer | undefined): void
  /** Takes back the recent writes of the object, since they turn out to follow a change of its Service. */
  forget(uid: string): void
  /** Tells a sweep that is under way at the end of the observation. */
  end(): void
}

interface Write {
  at: number
  uid: string
}

interface Sweep {
  startedAt: number
  lastAt: number
  writes: number
  objects: Set<string>
  by: Writer | undefined
}

const LOOK_EVERY_MS = 1_000

export function createSweeps(context: Context, cluster: string, object: EndpointObjectKind): Sweeps {
  /** The writes of the last 30 s in their order, and the number of them for each object. */
  const recent = new Set<Write>()
  const recentOf = new Map<string, number>()
  let current: Sweep | undefined

  function tell({ writes, objects, startedAt, lastAt, by }: Sweep, isOver: boolean): void {
    const about = `${cluster}/${object}`
    context.find(
      {
        code: 'sweep',
        cluster,
        object,
        writes,
        objects: objects.size,
        startedAt,
        lastAt,
        isOver,
        ...(by === undefined ? {} : { by }),
      },
      about,
    )
    if (isOver) context.over('sweep', about)
  }

  function take(write: Write): void {
    recent.add(write)
    recentOf.set(write.uid, (recentOf.get(write.uid) ?? 0) + 1)
  }

  function drop(write: Write): void {
    recent.delete(write)
    const left = recentOf.get(write.uid)! - 1
    if (left === 0) recentOf.delete(write.uid)
    else recentOf.set(write.uid, left)
  }

  function dropOld(): void {
    for (const write of recent) {
      if (context.now() - write.at < SWEEP_WITHIN_MS) return
      drop(write)
    }
  }

  /** A sweep ends by the number of its objects: a few objects that are written again and again do not keep it open. */
  function lookLater(sweep: Sweep): void {
    context.later(context.now() + LOOK_EVERY_MS, () => {
      dropOld()
      if (recentOf.size >= SWEEP_OBJECTS / 2) return lookLater(sweep)
      current = undefined
      tell(sweep, true)
    })
  }

  return {
    rewritten(uid, by) {
      const at = context.now()
      take({ at, uid })
      dropOld()
      if (current !== undefined) {
        current.lastAt = at
        current.writes += 1
        current.objects.add(uid)
        current.by = by ?? current.by
      } else if (recentOf.size >= SWEEP_OBJECTS) {
        const [first] = recent
        current = { startedAt: first!.at, lastAt: at, writes: recent.size, objects: new Set(recentOf.keys()), by }
        tell(current, false)
        lookLater(current)
      }
    },
    forget(uid) {
      for (const write of recent) if (write.uid === uid) drop(write)
    },
    end() {
      if (current !== undefined) tell(current, false)
    },
  }
}
