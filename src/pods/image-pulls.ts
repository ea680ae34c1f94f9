import { z } from 'zod'
import type { ImagePull } from './glossary.ts'

const Time = z.string().nullish()

const Event = z.object({
  reason: z.string().nullish(),
  message: z.string().nullish(),
  involvedObject: z.object({ uid: z.string().nullish(), fieldPath: z.string().nullish() }),
  lastTimestamp: Time,
  // Of one that was made by the newer API, and read by the older one.
  eventTime: Time,
  series: z.object({ lastObservedTime: Time }).nullish(),
})

const EventList = z.object({ items: z.array(z.unknown()) })

/** `Container image "x:1" already present on machine`, `Successfully pulled image "x:1" in 2.1s …`: the same in 1.20 and 1.35. */
const TAKEN = /^(?:Container image|Successfully pulled image) "([^"]+)"/
const CONTAINER = /^spec\.containers\{(.+)\}$/

/** What the Events of a pod say of the images that its containers were started from. What cannot be read says nothing. */
export function imagePulls(raw: unknown, uid: string): ImagePull[] {
  const list = EventList.safeParse(raw)
  return (list.data?.items ?? []).flatMap((item): ImagePull[] => {
    const { data: event } = Event.safeParse(item)
    if (event?.reason !== 'Pulled' || event.involvedObject.uid !== uid) return []
    const [, image] = TAKEN.exec(event.message ?? '') ?? []
    const [, container] = CONTAINER.exec(event.involvedObject.fieldPath ?? '') ?? []
    const at = event.series?.lastObservedTime ?? event.lastTimestamp ?? event.eventTime
    if (image === undefined || container === undefined || !at) return []
    // Some have fractions of a second, and the start of a container never does.
    return [{ container, image, at: `${at.slice(0, 19)}Z` }]
  })
}
