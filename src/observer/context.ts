import type { EndpointObjectKind } from './events.ts'
import type { Leg, ObserverFinding, ObserverFindingCode, Told } from './told.ts'

/** What the parts of an observer share. */
export interface Context {
  /** The instant of the event, or of the deadline, that is being looked at. */
  now(): number
  /** Does `work` once the instants have come to `dueAt`. */
  later(dueAt: number, work: () => void): void
  tell(told: Told): void
  /** `about`: it holds of this until `over` says that it does not; without it, it is of a moment. */
  find(finding: ObserverFinding, about?: string): void
  over(code: ObserverFindingCode, about: string): void
  measured(of: Measured, lagMs: number): void
  /** The lags of a Service are of no use any more. */
  forgetLags(of: Pick<Measured, 'cluster' | 'namespace' | 'service'>): void
  /** Endpoints were written, and any of their addresses was changed or none. */
  written(of: Written): void
  /** For so long a difference is none. */
  graceMs: number
}

export interface Measured {
  cluster: string
  namespace: string
  service: string
  leg: Leg
  loadBalancer?: string
  /** The cluster that is copied from. */
  from?: string
}

export interface Written {
  cluster: string
  object: EndpointObjectKind
  effect: 'addresses' | 'nothing'
}
