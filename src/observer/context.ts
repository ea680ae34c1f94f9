import type { EndpointObjectKind } from './events.ts'
import type { Leg, ObserverFinding, ObserverFindingCode, Told } from './told.ts'

/** The clock, the deadlines and the outputs that all parts of an observer share. */
export interface Context {
  /** The instant of the event or the deadline that is being handled, in milliseconds since 1970. */
  now(): number
  /** Runs `work` at the instant `dueAt`. */
  later(dueAt: number, work: () => void): void
  tell(told: Told): void
  /** `about` names the subject of a finding that holds until `over` is called with that name. A finding about a moment has none. */
  find(finding: ObserverFinding, about?: string): void
  over(code: ObserverFindingCode, about: string): void
  measured(of: Measured, lagMs: number): void
  /** Drops the lags of a Service that is gone. */
  forgetLags(of: Pick<Measured, 'cluster' | 'namespace' | 'service'>): void
  /** Counts a write of an EndpointSlice or of Endpoints. */
  written(of: Written): void
  /** The time in milliseconds for which a stale address or entry is no finding. */
  graceMs: number
}

export interface Measured {
  cluster: string
  namespace: string
  service: string
  leg: Leg
  loadBalancer?: string
  /** The cluster of the EndpointSlice, on a leg to a copy. */
  from?: string
}

export interface Written {
  cluster: string
  object: EndpointObjectKind
  /** `addresses` stands for a change of an address, a port or a hint. */
  effect: 'addresses' | 'nothing'
}
