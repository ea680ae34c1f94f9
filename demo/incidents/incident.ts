import type { EmbeddedCluster } from '../../sim/http/embedded-cluster.ts'
import type { Stage } from '../acts/act.ts'
import type { EmbeddedBalancer } from '../balancers/embedded.ts'
import type { StartClusterOptions } from '../cluster/start.ts'
import type { Children } from '../processes/children.ts'
import type { Tools } from './tools.ts'

export type IncidentName = 'flap' | 'heartbeat' | 'backlog' | 'selector' | 'sync'

/** The endpoints that a load balancer follows, as an ingress controller does. */
export interface Followed {
  service: string
  object: 'endpointslices' | 'endpoints'
  /** The time between two looks. Default: 100 ms. */
  everyMs?: number
}

/** A server that is not a pod. */
export interface Outside {
  name: string
  host: string
  port: number
}

/** An incident from production. The demo plays it as it was, with rules where it has some, and after the cure. */
export interface Incident {
  name: IncidentName
  /** The symptom that operators see first. */
  symptom: string
  cure: string
  /** The findings that reveal the incident, each as the command of sluice and the code. */
  expected: readonly string[]
  /** Rules of the webhook. With them, the incident is played once more, as it was, before the cure. */
  rules?: { says: string; document: string }
  stage: Pick<StartClusterOptions, 'pods' | 'stopSeconds' | 'embedded'>
  /** A second cluster, without nodes, whose endpoints the load balancer follows. */
  hasAccessCluster?: boolean
  /** Absent where the program that upgrades the pods also updates the load balancer. */
  followed?: Followed
  /** Prepares the cluster, before the incident happens for the first time. */
  prepare?(scene: Scene): Promise<void>
  /** Plays the events of the incident. They are equal each time. */
  happen(scene: Scene, isCured: boolean): Promise<void>
  applyCure?(scene: Scene): Promise<void>
  /** Ends what `prepare` has begun. */
  end?(scene: Scene): Promise<void>
}

/** The requests of clients of the load balancer. */
export interface Traffic {
  requests: number
  failed: number
}

/** The cluster, the processes and the tools that an incident is played with. */
export interface Scene extends Tools {
  stage: Stage & { balancer: EmbeddedBalancer }
  /** Present where the incident has an access cluster. */
  access?: EmbeddedCluster
  /** A folder for files, which goes with the demo. */
  folder: string
  children: Children
  /** A server that listens, and is no pod of the cluster. It runs where the load balancer follows endpoints of the only cluster. */
  outside: Outside
  say(text: string): void
  /** Sends requests through the load balancer while `work` runs, and counts them. */
  underTraffic(work: () => Promise<void>): Promise<Traffic>
  /** Sends a request as a separate client; `by` is the name of the client. Rejects where the API server refuses the request. */
  call(method: string, path: string, by: string, body?: unknown): Promise<unknown>
  /** Notes how long after its condition Ready a pod has left the copies of another cluster. Negative where it left them before. */
  noteCopyLag(ms: number): void
  /** Waits for a condition that holds within seconds. Rejects with a DemoError where it does not. */
  until(what: string, holds: () => Promise<boolean> | boolean): Promise<void>
}
