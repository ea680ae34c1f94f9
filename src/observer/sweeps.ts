import type { Writer } from '../reasons/fields.ts'
import type { Context } from './context.ts'
import type { EndpointObjectKind } from './events.ts'
import { SWEEP_GAP_MS, SWEEP_OBJECTS } from './limits.ts'

/** Counts the writes to one kind of object that change no address. */
export interface Sweeps {
  rewritten(uid: string, by: Writer | undefined): void
  /** Tells what there is of one that is under way. */
  end(): void
}

interface Sweep {
  startedAt: number
  lastAt: number
  writes: number
  objects: Set<string>
  by: Writer | undefined
}

export function createSweeps(context: Context, cluster: string, object: EndpointObjectKind): Sweeps {
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

  function isTold(sweep: Sweep): boolean {
    return sweep.objects.size >= SWEEP_OBJECTS
  }

  function endLater(sweep: Sweep): void {
    context.later(sweep.lastAt + SWEEP_GAP_MS, () => {
      if (context.now() - sweep.lastAt < SWEEP_GAP_MS) return endLater(sweep)
      current = undefined
      if (isTold(sweep)) tell(sweep, true)
    })
  }

  return {
    rewritten(uid, by) {
      const now = context.now()
      if (current === undefined) {
        current = { startedAt: now, lastAt: now, writes: 0, objects: new Set(), by }
        endLater(current)
      }
      const wasTold = isTold(current)
      current.lastAt = now
      current.writes += 1
      current.objects.add(uid)
      current.by = by ?? current.by
      if (!wasTold && isTold(current)) tell(current, false)
    },
    end() {
      if (current !== undefined && isTold(current)) tell(current, false)
    },
  }
}
