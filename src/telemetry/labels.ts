import { CONTROL_PLANE_PARTS, ENDPOINT_OBJECT_KINDS } from '../observer/events.ts'
import { LEGS, OBSERVER_FINDING_CODES } from '../observer/told.ts'

/** Whether a write has changed an address, or how one stands. */
export const WRITE_EFFECTS = ['addresses', 'nothing'] as const

/** The values of each label. Names of objects are no labels: there are too many, and `sluice observe` tells them. */
export interface LabelValues {
  cluster: string
  /** Empty for what is in no namespace. */
  namespace: string
  load_balancer: string
  code: (typeof OBSERVER_FINDING_CODES)[number]
  leg: (typeof LEGS)[number]
  object: (typeof ENDPOINT_OBJECT_KINDS)[number]
  part: (typeof CONTROL_PLANE_PARTS)[number]
  effect: (typeof WRITE_EFFECTS)[number]
}

export type LabelName = keyof LabelValues

/** The labels with a closed set of values. */
export const CLOSED_LABELS: Partial<Record<LabelName, readonly string[]>> = {
  code: OBSERVER_FINDING_CODES,
  leg: LEGS,
  object: ENDPOINT_OBJECT_KINDS,
  part: CONTROL_PLANE_PARTS,
  effect: WRITE_EFFECTS,
}
