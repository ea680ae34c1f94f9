/**
 * An adapter of little code, for a load balancer that can be set and read back: its author says what entries there are, and how
 * some of them are drained and restored. All else of the contract follows from the list.
 */
import type { z } from 'zod'
import { adapterFromCalls } from './adapter-from-calls.ts'
import { assertCapabilities, assertCode } from './check-definition.ts'
import {
  type AdapterContext,
  type AdapterDefinition,
  type Capabilities,
  CONTRACT_VERSION,
  type ProductServer,
  type UnversionedDocument,
} from './contract.ts'
import type { LoadBalancerCalls } from './load-balancer-calls.ts'

export { type Entry, resultKey } from './entry.ts'
export type { ChangeCall, ChangeResults, Former, GoneEntry, ListCall, LoadBalancerCalls } from './load-balancer-calls.ts'
export { isUnsent } from './unsent.ts'

type MustSay = 'inFlight' | 'settleMs' | 'volatileOnReload'
/** Nobody knows these but the author. The others have a default: G1, one target a call, read back at once, no jobs. */
export type DefinedCapabilities = Pick<Capabilities, MustSay> & Partial<Omit<Capabilities, MustSay>>

export interface AdapterCode<Options> {
  name: string
  /** One sentence for lists. */
  summary: string
  /** Unknown keys must be refused (`z.strictObject`). */
  options: z.ZodType<Options>
  /** As in AdapterDefinition. */
  example?: unknown
  capabilities: DefinedCapabilities | ((options: Options) => DefinedCapabilities)
  /** As in AdapterDefinition. */
  prepare?(options: Options, context: AdapterContext): void
  /** As in AdapterDefinition. */
  document?(options: Options): UnversionedDocument | undefined
  /** Opens no connection yet. `component` begins each error: adapter and load balancer, such as `nginx edge`. */
  open(options: Options, context: OpenContext): LoadBalancerCalls
  /** See AdapterDefinition. */
  serve?(options: Options, context: OpenContext): ProductServer
}

export type OpenContext = Required<AdapterContext> & { component: string }

const DEFAULTS: Omit<Capabilities, MustSay> = { guarantee: 'G1', maxBatch: 1, inspect: 'strong', disruptsOthers: false }

export function defineAdapter<Options>(code: AdapterCode<Options>): AdapterDefinition<Options> {
  assertCode(code)
  const { name: kind, summary, options: schema, example, capabilities, prepare, document, open, serve } = code
  const contextOf = ({ name, folder = process.cwd() }: AdapterContext): OpenContext => ({
    name,
    folder,
    component: `${kind} ${name}`,
  })
  return {
    name: kind,
    summary,
    options: schema,
    ...(example === undefined ? {} : { example }),
    contract: CONTRACT_VERSION,
    ...(prepare && { prepare }),
    ...(document && { document }),
    create(options, context) {
      const opened = contextOf(context)
      const said = typeof capabilities === 'function' ? capabilities(options) : capabilities
      assertCapabilities(kind, said)
      return adapterFromCalls(opened.component, { ...DEFAULTS, ...said }, open(options, opened))
    },
    ...(serve && { serve: (options, context) => serve(options, contextOf(context)) }),
  }
}
