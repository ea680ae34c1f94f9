/**
 * The contract of a load balancer adapter. An adapter only translates: the engine retries, waits between attempts, logs, and remembers.
 *
 * Terms: a *target* is the entry of one pod in one load balancer. A *scope* is the part of a load balancer that takes one call at a time
 * (the key of the lock and of the batch). An *effect* is a drain or a restore.
 */
import type { z } from 'zod'

/** Plain JSON. A prior state consists of it, because the journal stores it. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

export interface Address {
  address: string
  port: number
}

/** The address at which one pod listens. */
export interface Endpoint extends Address {
  uid: string
  pod: string
  /**
   * More addresses of the pod: its address in the other IP family, and the address of its node for a host port. The entries at these
   * addresses belong to the endpoint too.
   */
  others?: readonly Address[]
}

/** All addresses of an endpoint. Its own address comes first. */
export function addressesOf({ address, port, others = [] }: Endpoint): Address[] {
  return [{ address, port }, ...others]
}

/** One entry of a load balancer. The `id` is stable, and unique within the load balancer. */
export interface Target {
  id: string
  scope: string
}

/**
 * The targets that serve an endpoint, or the reason why the adapter found none. With `isThere`, the pod has entries that the adapter cannot
 * use: the pod may get requests, so the engine never treats it as a pod without a load balancer.
 */
export type Resolution = { found: true; targets: Target[] } | { found: false; reason: string; isThere?: true }

/** An entry of the load balancer. It may belong to a pod or not. */
export interface ListedEntry extends Address {
  /** The id of the target, if the entry is a target. */
  id: string
  /** The administrative state. Absent if the list does not show it. */
  admin?: 'in' | 'draining' | 'out'
}

/** The check by which the load balancer itself detects a failed server. */
export interface HealthCheck {
  /** The interval between two checks, in milliseconds. */
  everyMs: number
  /** The number of checks in a row that fail before the server stops getting requests. */
  failures: number
}

/** The state that the load balancer itself reports for a target now. */
export interface TargetObservation {
  /**
   * `draining`: the target gets no new traffic, and existing traffic may continue. `out`: it gets no traffic. `unknown`: the adapter could
   * not read the state.
   */
  admin: 'in' | 'draining' | 'out' | 'absent' | 'unknown'
  /** With `absent`: the entry exists, but it has another address now. */
  moved?: boolean
  /** True if new requests can reach the target. */
  routable: boolean
  weight?: number
  /** The number of requests or connections in progress. Null if the number cannot be known; 0 is never a default. */
  inFlight: number | null
  /** The load balancer waits for traffic in progress and has not ended its drain. The pod is not empty then, even if `inFlight` is 0. */
  isEmptying?: true
  /** A text for the operator. */
  detail?: string
}

/** The administrative state of a target in a canonical form: equal states give equal JSON. */
export interface TargetSnapshot {
  /** The state that `restore` puts back exactly. The journal stores it before the drain, so keep it small. */
  prior: Json
  /** False if an operator has taken the target out of rotation. The engine sends no effect to such a target. */
  inRotation: boolean
  weight?: number
}

export type EffectResult =
  /** The change is done. `detail` tells the operator of a side effect, for example that the weight had changed in the meantime. */
  | { outcome: 'applied'; detail?: string }
  /** The load balancer accepted the change and does it later; a read shows when it is done. `job` is a reference for the operator. */
  | { outcome: 'pending'; job: string }
  | { outcome: 'failed'; error: AdapterError }

/** The context of one call to the load balancer. */
export interface Call {
  /** The maximum duration of the call in milliseconds. The adapter cuts a longer call, and its outcome is then ambiguous. */
  deadlineMs: number
  /**
   * Throws if the caller has lost the right to this effect. The adapter calls it synchronously on the connected socket, right before the
   * bytes leave.
   */
  assertLive(): void
}

/** The context of a call that changes the load balancer. */
export interface EffectCall extends Call {
  /** The id of the operation by target id. It stays the same for every attempt of an effect, also in another process. */
  operationIds: ReadonlyMap<string, string>
  /** A number that grows each time the owner of the workload changes. */
  fence: number
}

export type GuaranteeLevel = 'G0' | 'G1' | 'G2' | 'G3'

/** The properties of an adapter on which the engine relies. The conformance kit tests that they are true. */
export interface Capabilities {
  /** The level of guarantee: see docs/guarantees.md. */
  guarantee: GuaranteeLevel
  /** The maximum number of targets in one drain or restore. A read has no such limit. */
  maxBatch: number
  /** When a read shows a write: at once (`strong`), after `settleMs` (`eventual`), or never, because the adapter cannot read (`none`). */
  inspect: 'strong' | 'eventual' | 'none'
  /** The content of `inFlight` in an observation: all open connections, requests only, or nothing. The plan shows it. */
  inFlight: 'exact' | 'requests-only' | 'none'
  /** A reload or restart of the load balancer loses the changes that were made at run time. */
  volatileOnReload: boolean
  /** Each change also cuts connections of other targets. The plan shows it. */
  disruptsOthers: boolean
  /** The time from the answer to a drain until the last new request has arrived. */
  settleMs: number
  /**
   * The maximum duration of a job, for effects that the load balancer accepts at once and does later. For this time after a `pending`, the
   * engine reads the effect back and does not send it again. After this time, the outcome of the job is unknown.
   */
  longestJobMs?: number
  /** The maximum time that an observation is `isEmptying` after a drain. A plan needs longer deadlines for drain and restore than this. */
  longestEmptyingMs?: number
}

/** An adapter for one load balancer. Each method answers for every target in its argument, and keys the results by target id. */
export interface Adapter {
  readonly capabilities: Capabilities
  /** Gives one resolution for each endpoint, in the order of the endpoints. */
  resolve(endpoints: readonly Endpoint[], call: Call): Promise<Resolution[]>
  inspect(targets: readonly Target[], call: Call): Promise<Map<string, TargetObservation>>
  snapshot(targets: readonly Target[], call: Call): Promise<Map<string, TargetSnapshot>>
  drain(targets: readonly Target[], call: EffectCall): Promise<Map<string, EffectResult>>
  restore(targets: readonly { target: Target; prior: Json }[], call: EffectCall): Promise<Map<string, EffectResult>>
  /**
   * Builds the requests for the drain and the restore of each target, and sends none of them. Gives the targets whose requests it cannot
   * build, with the reason. Absent if the adapter can build every request.
   */
  rehearse?(targets: readonly { target: Target; prior: Json }[], call: Call): Promise<Map<string, AdapterError>>
  /** The health checks of the load balancer, the quickest first; empty if it has none. Absent if the adapter cannot know them. */
  healthChecks?(call: Call): Promise<HealthCheck[]>
  /** All entries, including entries of no pod. Absent if the load balancer cannot list them. */
  entries?(call: Call): Promise<ListedEntry[]>
  /**
   * A name for the entry of a target, independent of its address: two ids of one entry give the same name. Absent if an entry cannot change
   * its address.
   */
  entryOf?(target: Target): string
  /**
   * Whether the config includes the part of the load balancer to which the target belongs, for example one of several instances. Prevents
   * that the engine drains or restores the target in another instance. Absent if there is only one part.
   */
  reaches?(target: Target): boolean
  close(): Promise<void>
}

/** A kind of load balancer. The field `adapter: NAME` of the config refers to it. */
export interface AdapterDefinition<Options = unknown> {
  name: string
  /** One sentence for lists of adapters. */
  summary: string
  /** The schema of the options. It must refuse unknown keys (`z.strictObject`). */
  options: z.ZodType<Options>
  /** The minimum options as a config has them. `sluice adapter describe` shows them, with the guarantee and the hazards that follow. */
  example?: unknown
  /** The version of the contract for which the definition is written. sluice refuses a plugin with another version. */
  contract?: number
  /**
   * Loads more code that the options need, such as a package that the user installs. Runs when sluice loads the config.
   * @throws PluginError
   */
  prepare?(options: Options, context: AdapterContext): void
  /**
   * With these options, a change replaces a whole document without a version, so the later of two concurrent writers overwrites the earlier
   * change. The config then needs a `lock`. Runs when sluice loads the config. Absent or undefined: no change can get lost.
   */
  document?(options: Options): UnversionedDocument | undefined
  /** Makes the adapter. Opens no connection yet. */
  create(options: Options, context: AdapterContext): Adapter
  /**
   * Makes the server for a product that fetches the document of the adapter instead of reading a file; `sluice adapter serve` uses it.
   * Throws if the options are for another way; the message is a sentence for the user.
   */
  serve?(options: Options, context: AdapterContext): ProductServer
}

export interface UnversionedDocument {
  /** An identity that all writers of the document share, such as its URL. Absent: the config must set it with `lock.key`. */
  identity?: string
}

/** Answers the requests of a product. Without an answer, the product continues with the document that it fetched before. */
export interface ProductServer {
  /** Rejects if the server cannot read the document. The product then gets status 503, and the operator gets the reason. */
  answer(request: ProductRequest): Promise<ProductAnswer>
}

export interface ProductRequest {
  method: string
  /** The path without the query. */
  path: string
  /** The IP address of the client. */
  from: string
  body: string
}

export interface ProductAnswer {
  status: number
  contentType?: string
  body?: string
  /** A line for the operator about a change. */
  notice?: string
}

export interface AdapterContext {
  /** The name of the load balancer in the config, for error messages. */
  name: string
  /** The folder of the config file. Relative paths start there. Default: the working directory. */
  folder?: string
}

/** The version of this contract. It increases when a member changes its meaning. */
export const CONTRACT_VERSION = 1

/**
 * The kinds of adapter errors:
 * - `retryable`: the change was certainly not sent, or not applied
 * - `throttled`: the load balancer refuses the call for now
 * - `not-found`: the target is not in the load balancer
 * - `conflict`: another writer changed the document in the meantime
 * - `fatal`: another attempt cannot help, for example without permission or with a wrong option
 * - `ambiguous`: bytes may have left, and no reliable answer arrived
 */
export type AdapterErrorKind = (typeof KINDS)[number]

const KINDS = ['retryable', 'throttled', 'not-found', 'conflict', 'fatal', 'ambiguous'] as const

/** The error that an adapter throws, or puts into the result of a target. */
export class AdapterError extends Error {
  override readonly name = 'AdapterError'
  readonly component: string
  readonly kind: AdapterErrorKind
  readonly retryAfterMs: number | undefined
  constructor(
    component: string,
    kind: AdapterErrorKind,
    message: string,
    options: { cause?: unknown; retryAfterMs?: number } = {},
  ) {
    super(`${component}: ${message}`, { cause: options.cause })
    this.component = component
    this.kind = kind
    this.retryAfterMs = options.retryAfterMs
  }
  /**
   * Compares the name and the kind, because the package that a plugin imports has a second copy of this class. For a subclass, `instanceof`
   * works as usual.
   */
  static override [Symbol.hasInstance](this: unknown, value: unknown): boolean {
    if (this !== AdapterError) return Function.prototype[Symbol.hasInstance].call(this as never, value)
    return value instanceof Error && value.name === 'AdapterError' && KINDS.some((kind) => kind === (value as AdapterError).kind)
  }
}
