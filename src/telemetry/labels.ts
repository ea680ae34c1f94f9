import { CONTROL_PLANE_PARTS, ENDPOINT_OBJECT_KINDS } from '../observer/events.ts'
import { LEGS, OBSERVER_FINDING_CODES } from '../observer/told.ts'

/** `addresses` stands for a write that has changed an address, a port or a hint. */
export const WRITE_EFFECTS = ['addresses', 'nothing'] as const

/** The values of each label. Names of Services, pods and nodes are no labels, since there are too many of them. */
export interface LabelValues {
  cluster: string
  /** Empty for a finding without a namespace. */
  namespace: string
  load_balancer: string
  code: (typeof OBSERVER_FINDING_CODES)[number]
  leg: (typeof LEGS)[number]
  object: (typeof ENDPOINT_OBJECT_KINDS)[number]
  part: (typeof CONTROL_PLANE_PARTS)[number]
  effect: (typeof WRITE_EFFECTS)[number]
}

export type LabelName = keyof LabelValues

/** The labels with a closed set of values, and these values. */
export const CLOSED_LABELS: Partial<Record<LabelName, readonly string[]>> = {
  code: OBSERVER_FINDING_CODES,
  leg: LEGS,
  object: ENDPOINT_OBJECT_KINDS,
  part: CONTROL_PLANE_PARTS,
  effect: WRITE_EFFECTS,
}
