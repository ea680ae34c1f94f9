import type { Leg, ObserverFinding, Told } from './told.ts'

/** What the parts of an observer share. */
export interface Context {
  /** The instant of the event, or of the deadline, that is being looked at. */
  now(): number
  /** Does `work` once the instants have come to `dueAt`. */
  later(dueAt: number, work: () => void): void
  tell(told: Told): void
  find(finding: ObserverFinding): void
  measured(of: Measured, lagMs: number): void
  /** For so long a difference is none. */
  graceMs: number
}

export interface Measured {
  cluster: string
  namespace: string
  service: string
  leg: Leg
  loadBalancer?: string
}
