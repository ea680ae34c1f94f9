import { z } from 'zod'
import type { ImagePull } from './glossary.ts'

const Time = z.string().nullish()

const Event = z.object({
  reason: z.string().nullish(),
  message: z.string().nullish(),
  involvedObject: z.object({ uid: z.string().nullish(), fieldPath: z.string().nullish() }),
  lastTimestamp: Time,
  // The time of an Event that a client created by the newer Events API.
  eventTime: Time,
  series: z.object({ lastObservedTime: Time }).nullish(),
})

const EventList = z.object({ items: z.array(z.unknown()) })

/** `Container image "x:1" already present on machine` or `Successfully pulled image "x:1" in 2.1s …`, unchanged from 1.20 to 1.35. */
const TAKEN = /^(?:Container image|Successfully pulled image) "([^"]+)"/
const CONTAINER = /^spec\.containers\{(.+)\}$/

/** The images that the pod's containers were started from, from the Events of the pod. Unreadable Events are ignored. */
export function imagePulls(raw: unknown, uid: string): ImagePull[] {
  const list = EventList.safeParse(raw)
  return (list.data?.items ?? []).flatMap((item): ImagePull[] => {
    const { data: event } = Event.safeParse(item)
    if (event?.reason !== 'Pulled' || event.involvedObject.uid !== uid) return []
    const [, image] = TAKEN.exec(event.message ?? '') ?? []
    const [, container] = CONTAINER.exec(event.involvedObject.fieldPath ?? '') ?? []
    const at = event.series?.lastObservedTime ?? event.lastTimestamp ?? event.eventTime
    if (image === undefined || container === undefined || !at) return []
    // Some Events have fractions of a second; the start time of a container never does.
    return [{ container, image, at: `${at.slice(0, 19)}Z` }]
  })
}
