/** Codes of the findings of an observation. */
export const FINDING_CODES = [
  'cluster-unreachable',
  'objects-unread',
  'load-balancer-unread',
  'stale-address',
  'sweep',
  'backlog',
  'writers-undo-each-other',
  'endpoints-by-hand',
  'pods-lost-with-heartbeat',
  'endpoints-truncated',
  'pod-flaps',
  'entry-flaps',
  'entry-follows-nothing',
] as const

/** Of the way from a pod to a load balancer. */
export const LEGS = ['pod-endpointslice', 'pod-endpoints', 'endpointslice-load-balancer'] as const

export const ENDPOINT_OBJECTS = ['Endpoints', 'EndpointSlice'] as const
export const CONTROL_PLANE_PARTS = ['kube-scheduler', 'kube-controller-manager'] as const
/** Whether a write has changed an address, or how one stands. */
export const WRITE_EFFECTS = ['addresses', 'nothing'] as const

/** The values of each label. Names of objects are no labels: there are too many, and `sluice observe` tells them. */
export interface LabelValues {
  cluster: string
  /** Empty for what is in no namespace. */
  namespace: string
  load_balancer: string
  code: (typeof FINDING_CODES)[number]
  leg: (typeof LEGS)[number]
  object: (typeof ENDPOINT_OBJECTS)[number]
  part: (typeof CONTROL_PLANE_PARTS)[number]
  effect: (typeof WRITE_EFFECTS)[number]
}

export type LabelName = keyof LabelValues

/** The labels with a closed set of values. */
export const CLOSED_LABELS: Partial<Record<LabelName, readonly string[]>> = {
  code: FINDING_CODES,
  leg: LEGS,
  object: ENDPOINT_OBJECTS,
  part: CONTROL_PLANE_PARTS,
  effect: WRITE_EFFECTS,
}
