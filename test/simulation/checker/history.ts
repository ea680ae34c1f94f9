/**
 * What the checker reads: only what the world stored, received and became. Whoever runs the world writes it down.
 * `by` is the process that acted: a run's process by its name, `kubelet`, a controller, or `operator`.
 */
export type HistoryEntry = { at: number } & Happening

export type Happening =
  /** A write of an object, as the API server stored it; raw Kubernetes JSON. */
  | { type: 'stored'; by: string; resource: string; verb: 'create' | 'update' | 'delete'; before: unknown; after: unknown }
  /** A drain or restore that arrived at a load balancer. `target` is the entry's stable id. */
  | {
      type: 'effect'
      by: string
      balancer: string
      target: string
      effect: 'drain' | 'restore'
      operation: string
      fence: number
      /** Taken, or refused (by a fence, a version, or because it was done already). */
      accepted: boolean
      before: TargetState
      after: TargetState
    }
  /** The entry changed without an effect of sluice: an operator, a reload, a restart. */
  | { type: 'target'; by: string; balancer: string; target: string; before: TargetState; after: TargetState }
  /** What happened on a node. */
  | {
      type: 'container'
      what: 'started' | 'serving' | 'stopping' | 'exited'
      uid: string
      container: string
      id: string
      image: string
      address: string
    }
  /** A process of sluice. `outcome` when it ended by itself; `pods` as it told. */
  | {
      type: 'process'
      process: string
      what: 'started' | 'crashed' | 'paused' | 'continued' | 'exited'
      outcome?: string
      pods?: { uid: string; outcome: string; reason: string }[]
    }
  /** A fault of the seed took effect. */
  | { type: 'fault'; fault: string; detail: string }
  /** From here on nothing goes wrong any more, and the processes are started again until they end. */
  | { type: 'calm' }

/** One entry of a load balancer. */
export interface TargetState {
  address: string
  /** New requests reach it. */
  routable: boolean
  weight: number
  inFlight: number
  /** The operator's view: in rotation, draining, in maintenance. */
  admin: 'ready' | 'drain' | 'maint'
}

/** What was set up, and what is promised for it. */
export interface Scenario {
  seed: number
  /** Of each load balancer, by name. */
  levels: Record<string, 'G0' | 'G1' | 'G2' | 'G3'>
  namespace: string
  /** Pods of the request that may be out at once. */
  maxUnavailable: number
  /** Container name → wanted image, for each pod of the request. */
  wanted: Record<string, string>
}
