/**
 * The input of the checker: what the world stored, received and became. The runner of the world records it in order, on one clock. `by` is
 * the process that acted: the name of a run's process, `kubelet`, a controller, or `operator`.
 */
export type HistoryEntry = { at: number } & Happening

export type Happening =
  /** A write of an object, as the API server stored it, in raw Kubernetes JSON. */
  | {
      type: 'stored'
      by: string
      resource: string
      verb: 'create' | 'update' | 'delete'
      before: unknown
      after: unknown
      /** The time when the bytes left the process, for writes of sluice. */
      leftAt?: number
    }
  /** A drain or restore that arrived at a load balancer. `target` is the name of the entry, regardless of its address. */
  | {
      type: 'effect'
      by: string
      balancer: string
      target: string
      effect: 'drain' | 'restore'
      operation: string
      fence: number
      /** The time when the bytes left the process. */
      leftAt: number
      /** True where the call was taken. False where it was refused (by a fence, a version), or known as done already. */
      accepted: boolean
      before: TargetState
      after: TargetState
    }
  /** A change of the entry without an effect of sluice: the setup, an operator, a reload. Null where the entry does not exist. */
  | {
      type: 'target'
      by: 'setup' | 'operator' | 'reload'
      balancer: string
      target: string
      before: TargetState | null
      after: TargetState | null
    }
  /** An event on a node. */
  | {
      type: 'container'
      what: 'started' | 'serving' | 'stopping' | 'exited'
      uid: string
      container: string
      id: string
      image: string
      address: string
    }
  /** An event of a process of sluice. `outcome` is set at its own end; `pods` are its statements about the pods. */
  | {
      type: 'process'
      process: string
      what: 'started' | 'crashed' | 'paused' | 'continued' | 'exited'
      /** With `started`: the process only records what an operator has seen of some pods. */
      isWord?: true
      /** With `started`: container name → image that the process was asked for. */
      wanted?: Record<string, string>
      /** With `started`: the names of its pods, where the process is about a part of the pods. */
      part?: readonly string[]
      outcome?: string
      pods?: { uid: string; outcome: string; reason: string; leftOut?: true }[]
    }
  /** The end of a pod that a process has reported to its operator before its own end. */
  | { type: 'told'; process: string; uid: string; outcome: string; leftOut?: true }
  /** A statement of a process about itself, for the reader of a replay. No rule uses it. */
  | { type: 'said'; process: string; words: string }
  /**
   * The load balancer neither answers nor acts from here on. With `process`, this holds for that process only, which calls it one at a
   * time.
   */
  | { type: 'silent'; balancer: string; process?: string; forMs: number }
  /** The load balancer was reloaded, and has forgotten which operations it has done. */
  | { type: 'forgot'; balancer: string }
  /** A fault of the seed took effect. */
  | { type: 'fault'; fault: string; detail: string }
  /** No faults happen from here on, and the processes are started again until they end. */
  | { type: 'calm' }

/** One entry of a load balancer. */
export interface TargetState {
  address: string
  /** True where new requests reach the target. */
  routable: boolean
  weight: number
  inFlight: number
  /** The time when the last request on the target ends or ended. Null while new requests arrive. */
  emptyAt: number | null
  /** The state as the operator sees it: in rotation, draining, in maintenance. */
  admin: 'ready' | 'drain' | 'maint'
}

export type Level = 'G0' | 'G1' | 'G2' | 'G3'

/** The setup, and its guarantees. */
export interface Scenario {
  seed: number
  /** The level of each load balancer, by name. */
  levels: Record<string, Level>
  namespace: string
  /** The number of the request's pods that may be out at once. */
  maxUnavailable: number
  /** Container name → wanted image, for each pod of the request. */
  wanted: Record<string, string>
  /** The time after the drain intent at which a pod is patched although requests are still under way, in milliseconds. */
  proceedsAfterMs?: number
  /** The names of containers that may restart while their pod is in rotation, where no other container is changed. */
  undrained?: readonly string[]
  /** Load balancers that do not know the number of requests under way. */
  uncounted?: readonly string[]
  /** The time after a drain in which new requests still arrive, in milliseconds, for load balancers whose drain takes effect late. */
  trailMs?: Readonly<Record<string, number>>
  /** The time that a call may be under way, in milliseconds. G0, G1 and G2 assume it. Default 10,000. */
  callLifeMs?: number
  /** For G2, the time that an operation ID is remembered, in milliseconds. Without a limit unless given. */
  memoryMs?: number
  /** The greatest age of what a process has observed, in milliseconds: by watches, and by reads of the load balancers. */
  lagMs?: number
  /** The greatest age of what a watch reports, where no process is held up. */
  watchMs?: number
  /** The part of `lagMs` that is the age of a read of a load balancer. */
  staleMs?: number
}
