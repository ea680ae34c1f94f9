import type { ObservedEvent } from './events.ts'
import { createObserver, type ObserverOptions } from './observer.ts'
import type { ObserverSummary, Told } from './told.ts'

/** Makes the changes, findings and summary of recorded events, which are equal to those of the observation. */
export async function replayEvents(
  options: ObserverOptions,
  events: AsyncIterable<ObservedEvent> | Iterable<ObservedEvent>,
  onTold: (told: Told) => void,
): Promise<ObserverSummary> {
  const observer = createObserver(options)
  for await (const event of events) for (const one of observer.take(event)) onTold(one)
  return observer.summary()
}
