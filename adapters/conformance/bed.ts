/**
 * A test bed: one real load balancer with pods behind it, a wire that can be made to fail, and eyes of its own.
 * The kit talks to the load balancer through the adapter only, and checks what it did with the bed only.
 */
import type { Adapter, Endpoint, Target } from '../contract.ts'

/** What happens to the next effect on the wire; `refused` lasts until `heal`. */
export type WireFault =
  /** No connection can be made. */
  | 'refused'
  /** The connection breaks before the effect is sent. */
  | 'cut-before-effect'
  /** The effect is sent and does not arrive; the connection breaks. */
  | 'request-lost'
  /** The effect is done; the connection breaks before the answer. */
  | 'reply-lost'
  /** The effect is done; no answer ever comes, and the connection stays. */
  | 'no-answer'
  /** The answer says that it was done, and it was not. */
  | 'false-success'

export interface Wire {
  next(fault: WireFault): void
  heal(): void
  /** Calls with effects that left the adapter, also those that were lost. */
  effectCalls(): number
}

/** The load balancer's own view, read without the adapter. */
export interface Oracle {
  admin(endpoint: Endpoint): Promise<'in' | 'draining' | 'out'>
  /** Absent where the load balancer has no weights. */
  weight?(endpoint: Endpoint): Promise<number>
}

/** What a person does at the load balancer. */
export interface Operator {
  /** Absent where the load balancer has no maintenance besides what the adapter's drain does. */
  maint?(endpoint: Endpoint): Promise<void>
  drain(endpoint: Endpoint): Promise<void>
  ready(endpoint: Endpoint): Promise<void>
  /** Absent where the load balancer has no weights. */
  weight?(endpoint: Endpoint, weight: number): Promise<void>
  /** Of the weights that can be set; 0 unless given. */
  lowestWeight?: number
}

export interface HeldRequest {
  /** The uid of the pod that has it. */
  uid: string
  /** Lets it end; true if the client got its whole answer. */
  release(): Promise<boolean>
}

export interface Traffic {
  /** One request on a new connection: the uid of the pod that answered, or the error that the client got. */
  request(): Promise<string>
  /** A request that stays in flight. */
  hold(): Promise<HeldRequest>
  /** Requests of one client on one kept connection. */
  keepAlive?(): Promise<{ request(): Promise<string>; close(): void }>
}

export interface Bed {
  /** A new adapter on the same load balancer; all that it sends passes the wire. The bed closes it. */
  adapter(): Adapter
  /** At least three; requests reach each of the first three. */
  endpoints: Endpoint[]
  oracle: Oracle
  operator: Operator
  traffic: Traffic
  wire: Wire
  /** The id of a target that has left the load balancer. Absent where a drain takes a target away: then one cannot be told. */
  absent?: Target
  /** Restart or reload, whatever makes it forget what was set; resolves when the new process serves. */
  restart(): Promise<void>
  /** Makes a pod fail its health checks; resolves when the load balancer knows. */
  breakHealth?(endpoint: Endpoint): Promise<void>
  /** An adapter without the right to change anything. */
  powerless?(): Adapter
  /** Long enough for an effect that has an answer, and waited for in vain by some cases. Default: 300 ms. */
  shortDeadlineMs?: number
  /** Effects with a lower fence than one already seen are refused. */
  fencing: boolean
  close(): Promise<void>
}

/** A bed that lacks some parts: the cases that need them do not apply. */
export type PartialBed = Omit<Bed, 'traffic' | 'wire' | 'restart'> &
  Partial<Pick<Bed, 'traffic' | 'wire' | 'restart'>> & {
    /** Nothing behind this load balancer may be drained. It may have fewer than three endpoints then, or none. */
    readOnly?: boolean
  }

export type MakeBed = (options: { servers: number }) => Promise<Bed>
export type MakePartialBed = (options: { servers: number }) => Promise<PartialBed>
