import type { Stage } from '../acts/act.ts'
import type { EmbeddedBalancer } from '../balancers/embedded.ts'
import type { StartClusterOptions } from '../cluster/start.ts'
import type { Children } from '../processes/children.ts'
import type { Tools } from './tools.ts'

export type IncidentName = 'flap' | 'heartbeat' | 'backlog' | 'selector'

/** Which endpoints a load balancer follows, as an ingress controller does. */
export interface Followed {
  service: string
  object: 'endpointslices' | 'endpoints'
}

/** A server that is no pod. */
export interface Outside {
  name: string
  host: string
  port: number
}

/** An incident of the field, as it can be played: once as it was, and once more after the cure. */
export interface Incident {
  name: IncidentName
  /** What a person saw at first. */
  symptom: string
  cure: string
  /** What finds it: the command of sluice and the code. */
  expected: readonly string[]
  stage: Pick<StartClusterOptions, 'pods' | 'stopSeconds' | 'embedded'>
  /** Absent where the load balancer is told by whoever upgrades. */
  followed?: Followed
  /** Before it happens for the first time. */
  prepare?(scene: Scene): Promise<void>
  /** The same events, with the cure or without it. */
  happen(scene: Scene, isCured: boolean): Promise<void>
  applyCure?(scene: Scene): Promise<void>
}

/** What an incident is played on. */
export interface Scene extends Tools {
  stage: Stage & { balancer: EmbeddedBalancer }
  children: Children
  /** Listens, and is no pod of the cluster. */
  outside: Outside
  say(text: string): void
  /** Requests go through the load balancer while the work is done; they are counted. */
  underTraffic(work: () => Promise<void>): Promise<void>
  /** As a client of its own; `by` is the name that it gives itself. Rejects where it is refused. */
  call(method: string, path: string, by: string, body?: unknown): Promise<unknown>
  /** Waits for what comes within seconds. Rejects with a DemoError where it does not. */
  until(what: string, holds: () => Promise<boolean> | boolean): Promise<void>
}
