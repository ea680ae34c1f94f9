/**
 * What a load balancer adapter is. An adapter translates; it never retries, sleeps between attempts, logs,
 * or remembers what it did: the engine does.
 *
 * Words: a *target* is one pod's entry in one load balancer; a *scope* is the part of a load balancer that is
 * written one call at a time (the key of the lock and of the batch); an *effect* is a drain or a restore.
 */
import type { z } from 'zod'

/** Plain JSON: what a prior state must be made of, since it is kept in the journal. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

export interface Address {
  address: string
  port: number
}

/** Where one pod listens. */
export interface Endpoint extends Address {
  uid: string
  pod: string
  /**
   * Where the pod can be reached too: at its address in the other family, and at its node's where the port is a host port. Its
   * entries there are the endpoint's as well.
   */
  others?: readonly Address[]
}

/** All addresses of an endpoint, its own first. */
export function addressesOf({ address, port, others = [] }: Endpoint): Address[] {
  return [{ address, port }, ...others]
}

/** One entry of a load balancer. `id` is stable, and unique within the load balancer. */
export interface Target {
  id: string
  scope: string
}

/**
 * Which targets serve an endpoint: one or more, or none with the reason why. `isThere`: it has entries, which cannot be used as
 * they are; it is served, and nobody may let it through without a drain.
 */
export type Resolution = { found: true; targets: Target[] } | { found: false; reason: string; isThere?: true }

/** An entry of the load balancer, whether it is a pod's or not. */
export interface ListedEntry extends Address {
  /** That of the target, where it is one. */
  id: string
  /** Absent where the list does not say. */
  admin?: 'in' | 'draining' | 'out'
}

/** How the load balancer finds out by itself that a server has failed. */
export interface HealthCheck {
  /** Between two of them. */
  everyMs: number
  /** So many in a row fail before the server gets no requests any more. */
  failures: number
}

/** What the load balancer itself says of a target now. */
export interface TargetObservation {
  /** `draining`: no new traffic, old may go on; `out`: nothing at all; `unknown`: it could not be read. */
  admin: 'in' | 'draining' | 'out' | 'absent' | 'unknown'
  /** With `absent`: there is such an entry, but with another address by now. */
  moved?: boolean
  /** New requests can reach it. */
  routable: boolean
  weight?: number
  /** Requests or connections under way; null where that cannot be known, never 0 by default. */
  inFlight: number | null
  /** The load balancer itself waits for what is under way, and has not ended its drain: the pod is not empty, whatever `inFlight` says. */
  isEmptying?: true
  /** For a person. */
  detail?: string
}

/** The administrative state of a target in a canonical form: two equal states give equal JSON. */
export interface TargetSnapshot {
  /** Kept in the journal before the drain; `restore` puts back exactly this. Keep it small. */
  prior: Json
  /** False where an operator has it out of rotation: such a target gets no effect. */
  inRotation: boolean
  weight?: number
}

export type EffectResult =
  /** `detail`: what a person should know of it, such as a weight that was another one meanwhile. */
  | { outcome: 'applied'; detail?: string }
  /** Accepted, and done later: reading back shows when. `job`: what a person may look for. */
  | { outcome: 'pending'; job: string }
  | { outcome: 'failed'; error: AdapterError }

/** The circumstances of one wire call. */
export interface Call {
  /** Milliseconds that the call may live on the wire; past that it is cut, and ambiguous. */
  deadlineMs: number
  /**
   * Throws where the caller lost the right to this effect. Called synchronously on the connected socket,
   * right before the bytes leave.
   */
  assertLive(): void
}

/** The circumstances of a call that changes the load balancer. */
export interface EffectCall extends Call {
  /** By target id; the same for every try of the same effect, whoever tries. */
  operationIds: ReadonlyMap<string, string>
  /** Grows each time the workload's owner changes. */
  fence: number
}

export type GuaranteeLevel = 'G0' | 'G1' | 'G2' | 'G3'

/** What the engine relies on. The conformance kit tests that it is true. */
export interface Capabilities {
  /** docs/guarantees.md */
  guarantee: GuaranteeLevel
  /** Targets of one drain or restore. A read may be of any number. */
  maxBatch: number
  /** Whether a read shows a write: at once, after `settleMs`, or never, since nothing can be read. */
  inspect: 'strong' | 'eventual' | 'none'
  /** What `inFlight` of an observation counts: all that is open, requests alone, or nothing. The plan shows it. */
  inFlight: 'exact' | 'requests-only' | 'none'
  /** A reload or restart forgets what was set. */
  volatileOnReload: boolean
  /** Each change also cuts connections of targets that it does not name. The plan shows it. */
  disruptsOthers: boolean
  /** From the answer of a drain until no new request arrives. */
  settleMs: number
  /**
   * The longest that a job takes, where an effect may be one: accepted at once, and done later. For so long after a `pending` the
   * effect is read back and not sent again; after that, nobody knows what became of the job.
   */
  longestJobMs?: number
  /** The longest that an observation is `isEmptying` after a drain. A plan refuses deadlines of drain and restore that are not longer. */
  longestEmptyingMs?: number
}

/** Every method answers for each target asked; results are keyed by target id. */
export interface Adapter {
  readonly capabilities: Capabilities
  /** In the order of the endpoints. */
  resolve(endpoints: readonly Endpoint[], call: Call): Promise<Resolution[]>
  inspect(targets: readonly Target[], call: Call): Promise<Map<string, TargetObservation>>
  snapshot(targets: readonly Target[], call: Call): Promise<Map<string, TargetSnapshot>>
  drain(targets: readonly Target[], call: EffectCall): Promise<Map<string, EffectResult>>
  restore(targets: readonly { target: Target; prior: Json }[], call: EffectCall): Promise<Map<string, EffectResult>>
  /**
   * Makes the drain and the restore of each target as they would be sent now, and sends neither: gives those that cannot be made, with the
   * reason. Absent where an effect can always be made.
   */
  rehearse?(targets: readonly { target: Target; prior: Json }[], call: Call): Promise<Map<string, AdapterError>>
  /** The health checks of its own, the quickest first; none where it has none. Absent where that cannot be known. */
  healthChecks?(call: Call): Promise<HealthCheck[]>
  /** All entries, also those of no pod. Absent where they cannot be listed. */
  entries?(call: Call): Promise<ListedEntry[]>
  /**
   * What names the entry of a target whatever address it has: two ids of one entry give the same. Absent where an entry
   * cannot get another address.
   */
  entryOf?(target: Target): string
  /**
   * The config has what the target is of: one instance of several, say. What was drained in another would be drained, and put back,
   * where it never was. Absent where there is nothing to tell them apart by.
   */
  reaches?(target: Target): boolean
  close(): Promise<void>
}

/** A kind of load balancer: what `adapter: NAME` in the config refers to. */
export interface AdapterDefinition<Options = unknown> {
  name: string
  /** One sentence for lists. */
  summary: string
  /** Unknown keys must be refused (`z.strictObject`). */
  options: z.ZodType<Options>
  /** The fewest options, as a config has them. `sluice adapter describe` shows them, with the guarantee and the hazards that follow. */
  example?: unknown
  /** The version of this contract that it is made for. A plugin of another one is refused. */
  contract?: number
  /**
   * Loads what the options need besides, such as a package that its users install: asked when the config is loaded.
   * @throws PluginError
   */
  prepare?(options: Options, context: AdapterContext): void
  /**
   * With these options, a change replaces a whole document that has no version, so that of two writers at once the first is lost: the
   * config must have a `lock` then. Asked when the config is loaded. Absent, or undefined: no change is lost by another one.
   */
  document?(options: Options): UnversionedDocument | undefined
  /** Opens no connection yet. */
  create(options: Options, context: AdapterContext): Adapter
  /**
   * For a product that fetches what the adapter writes, instead of reading a file: `sluice adapter serve` answers by this. Throws where these
   * options are for another way: the message is a sentence for the user.
   */
  serve?(options: Options, context: AdapterContext): ProductServer
}

export interface UnversionedDocument {
  /** The same for all that write the document, such as its URL. Absent: the config must name it, by `lock.key`. */
  identity?: string
}

/** Answers the requests of a product. Without an answer, the product goes on with what it has fetched before. */
export interface ProductServer {
  /** Rejects where the document cannot be read: the product is told 503, and the operator why. */
  answer(request: ProductRequest): Promise<ProductAnswer>
}

export interface ProductRequest {
  method: string
  /** Without the query. */
  path: string
  /** The IP address that it comes from. */
  from: string
  body: string
}

export interface ProductAnswer {
  status: number
  contentType?: string
  body?: string
  /** For the operator: something has changed that is worth a line. */
  notice?: string
}

export interface AdapterContext {
  /** The load balancer's name in the config, for errors. */
  name: string
  /** The folder of the config file, by which relative paths are meant. Default: the working directory. */
  folder?: string
}

/** Grows when a member changes its meaning. */
export const CONTRACT_VERSION = 1

/**
 * - `retryable`: proven not sent or not applied
 * - `throttled`: refused for now
 * - `not-found`: the target is not in the load balancer
 * - `conflict`: somebody else changed the document meanwhile
 * - `fatal`: trying again cannot help (no permission, bad option)
 * - `ambiguous`: bytes may have left, and no trustworthy answer came
 */
export type AdapterErrorKind = (typeof KINDS)[number]

const KINDS = ['retryable', 'throttled', 'not-found', 'conflict', 'fatal', 'ambiguous'] as const

/** What an adapter throws, or puts in a target's result. */
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
  /** By its name and kind: the package that a plugin imports has this class once more. A class that is made of it is told as any. */
  static override [Symbol.hasInstance](this: unknown, value: unknown): boolean {
    if (this !== AdapterError) return Function.prototype[Symbol.hasInstance].call(this as never, value)
    return value instanceof Error && value.name === 'AdapterError' && KINDS.some((kind) => kind === (value as AdapterError).kind)
  }
}
