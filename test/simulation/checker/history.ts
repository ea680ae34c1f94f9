/**
 * What the checker reads: only what the world stored, received and became. Whoever runs the world writes it down, in the
 * order in which it happened, on one clock. `by` is the process that acted: a run's process by its name, `kubelet`, a
 * controller, or `operator`.
 */
export type HistoryEntry = { at: number } & Happening

export type Happening =
  /** A write of an object, as the API server stored it; raw Kubernetes JSON. */
  | {
      type: 'stored'
      by: string
      resource: string
      verb: 'create' | 'update' | 'delete'
      before: unknown
      after: unknown
      /** When its bytes left the process, where it was one of sluice. */
      leftAt?: number
    }
  /** A drain or restore that arrived at a load balancer. `target` is the entry's name there, whatever address it has. */
  | {
      type: 'effect'
      by: string
      balancer: string
      target: string
      effect: 'drain' | 'restore'
      operation: string
      fence: number
      /** When its bytes left the process. */
      leftAt: number
      /** Taken; false where it was refused (by a fence, a version), or known as done already. */
      accepted: boolean
      before: TargetState
      after: TargetState
    }
  /** The entry changed without an effect of sluice: set up, an operator, a reload. Null where it is not there. */
  | {
      type: 'target'
      by: 'setup' | 'operator' | 'reload'
      balancer: string
      target: string
      before: TargetState | null
      after: TargetState | null
    }
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
      /** With `started`: it only writes down what a person has seen of some pods. */
      isWord?: true
      /** With `started`: container name → image that it was asked for. */
      wanted?: Record<string, string>
      /** With `started`: the names of the pods that it is about, where these are not all. */
      part?: readonly string[]
      outcome?: string
      pods?: { uid: string; outcome: string; reason: string; leftOut?: true }[]
    }
  /** Before its own end a process has told, where a person reads it, how this pod has ended. */
  | { type: 'told'; process: string; uid: string; outcome: string; leftOut?: true }
  /** What a process says of itself, for who reads a replay; no rule goes by it. */
  | { type: 'said'; process: string; words: string }
  /** From here on the load balancer answers nobody, nor does as it is told; or not this process, which asks it one thing at a time. */
  | { type: 'silent'; balancer: string; process?: string; forMs: number }
  /** The load balancer has been reloaded, and does not remember any more which operations it has done. */
  | { type: 'forgot'; balancer: string }
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
  /** When the last request on it ends, or ended; null while new ones arrive. */
  emptyAt: number | null
  /** The operator's view: in rotation, draining, in maintenance. */
  admin: 'ready' | 'drain' | 'maint'
}

export type Level = 'G0' | 'G1' | 'G2' | 'G3'

/** What was set up, and what is promised for it. */
export interface Scenario {
  seed: number
  /** Of each load balancer, by name. */
  levels: Record<string, Level>
  namespace: string
  /** Pods of the request that may be out at once. */
  maxUnavailable: number
  /** Container name → wanted image, for each pod of the request. */
  wanted: Record<string, string>
  /** So many milliseconds after its drain intent a pod is patched though requests are still under way. */
  proceedsAfterMs?: number
  /** Names of containers that may restart while their pod is in rotation, where no other one is changed. */
  undrained?: readonly string[]
  /** Load balancers that cannot tell how many requests are under way. */
  uncounted?: readonly string[]
  /** Of load balancers whose drain takes effect late: milliseconds after it in which new requests still arrive. */
  trailMs?: Readonly<Record<string, number>>
  /** Milliseconds that a call may be under way: what G0, G1 and G2 assume. 10,000 unless given. */
  callLifeMs?: number
  /** G2: milliseconds that an operation id is remembered. For ever unless given. */
  memoryMs?: number
  /** Milliseconds that what a process has observed may be old, at most: watches, and reads of the load balancers. */
  lagMs?: number
  /** … and how old what a watch tells, where nobody is held up. */
  watchMs?: number
  /** Of that, how old a read of a load balancer may be. */
  staleMs?: number
}
