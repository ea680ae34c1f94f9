/**
 * A test bed: one real load balancer with pods behind it, a wire that can fail on demand, and its own view of the load balancer. The kit
 * calls the load balancer only through the adapter, and verifies the results only through the bed.
 */
import type { Adapter, Endpoint, Target } from '../contract.ts'

/** The fault of the next effect on the wire. The fault `refused` lasts until `heal`. */
export type WireFault =
  /** The adapter cannot connect. */
  | 'refused'
  /** The connection breaks before the effect is sent. */
  | 'cut-before-effect'
  /** The effect is sent but does not arrive, and the connection breaks. */
  | 'request-lost'
  /** The effect is done; the connection breaks before the answer. */
  | 'reply-lost'
  /** The effect is done; no answer arrives, and the connection stays open. */
  | 'no-answer'
  /** The answer reports success, but the effect is not done. */
  | 'false-success'

export interface Wire {
  next(fault: WireFault): void
  heal(): void
  /** The number of calls with effects that left the adapter, including lost calls. */
  effectCalls(): number
}

/** The view of the load balancer itself, read without the adapter. */
export interface Oracle {
  admin(endpoint: Endpoint): Promise<'in' | 'draining' | 'out'>
  /** The weight of the endpoint. Absent if the load balancer has no weights. */
  weight?(endpoint: Endpoint): Promise<number>
}

/** The changes that an operator makes at the load balancer. */
export interface Operator {
  /** Puts the target into maintenance. Absent if the load balancer has no maintenance besides the drain of the adapter. */
  maint?(endpoint: Endpoint): Promise<void>
  drain(endpoint: Endpoint): Promise<void>
  ready(endpoint: Endpoint): Promise<void>
  /** Sets the weight of the endpoint. Absent if the load balancer has no weights. */
  weight?(endpoint: Endpoint, weight: number): Promise<void>
  /** The lowest weight that can be set. Default: 0. */
  lowestWeight?: number
}

export interface HeldRequest {
  /** The uid of the pod that holds the request. */
  uid: string
  /** Ends the request. True if the client got the complete answer. */
  release(): Promise<boolean>
}

export interface Traffic {
  /** Sends one request on a new connection. Gives the uid of the pod that answered, or the error of the client. */
  request(): Promise<string>
  /** Sends a request that stays in progress. */
  hold(): Promise<HeldRequest>
  /** Sends requests of one client on one kept connection. */
  keepAlive?(): Promise<{ request(): Promise<string>; close(): void }>
}

export interface Bed {
  /** Makes a new adapter for the load balancer. All its calls pass through the wire. The bed closes the adapter. */
  adapter(): Adapter
  /** The endpoints, at least three. Requests reach each of the first three. */
  endpoints: Endpoint[]
  oracle: Oracle
  operator: Operator
  traffic: Traffic
  wire: Wire
  /**
   * The id of a target that has left the load balancer. Absent if a drain removes the target, because the two cannot be told apart then.
   */
  absent?: Target
  /** Restarts or reloads the load balancer, so that it loses its changes at run time. Resolves when the new process serves. */
  restart(): Promise<void>
  /** Makes a pod fail its health checks. Resolves when the load balancer has detected it. */
  breakHealth?(endpoint: Endpoint): Promise<void>
  /** Makes an adapter without permission to change anything. */
  powerless?(): Adapter
  /** The deadline for calls without an answer. It must be long enough for an effect that gets an answer. Default: 300 ms. */
  shortDeadlineMs?: number
  /** True if the load balancer refuses effects with a lower fence than an earlier effect. */
  fencing: boolean
  close(): Promise<void>
}

/** A bed without some parts. The cases that need a missing part do not apply. */
export type PartialBed = Omit<Bed, 'traffic' | 'wire' | 'restart'> &
  Partial<Pick<Bed, 'traffic' | 'wire' | 'restart'>> & {
    /** True if no target of this load balancer may be drained. The bed may then have fewer than three endpoints, or none. */
    readOnly?: boolean
  }

export type MakeBed = (options: { servers: number }) => Promise<Bed>
export type MakePartialBed = (options: { servers: number }) => Promise<PartialBed>
