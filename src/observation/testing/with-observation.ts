import { createObservation, type FeedScope, type SharedObservation } from '../observation.ts'
import type { FeedPorts } from '../shared-feed.ts'

/** These ports, with an observation of their client. */
export function withObservation<P extends FeedPorts>(
  ports: P,
  scope: FeedScope = 'request',
): P & { observation: SharedObservation } {
  const { client, clock, random } = ports
  return { ...ports, observation: createObservation({ client, clock, random, scope }) }
}
