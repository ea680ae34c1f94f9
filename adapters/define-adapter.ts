/**
 * `defineAdapter` makes an adapter from a small amount of code, for a load balancer with settings that can be changed and read back. The
 * author lists the entries, and drains and restores some of them. The other parts of the contract follow from the list.
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
/** The capabilities that the author must state. The other ones have defaults: G1, one target per call, read back at once, and no jobs. */
export type DefinedCapabilities = Pick<Capabilities, MustSay> & Partial<Omit<Capabilities, MustSay>>

export interface AdapterCode<Options> {
  name: string
  /** One sentence for lists of adapters. */
  summary: string
  /** The schema of the options. It must refuse unknown keys (`z.strictObject`). */
  options: z.ZodType<Options>
  /** See AdapterDefinition. */
  example?: unknown
  capabilities: DefinedCapabilities | ((options: Options) => DefinedCapabilities)
  /** See AdapterDefinition. */
  prepare?(options: Options, context: AdapterContext): void
  /** See AdapterDefinition. */
  document?(options: Options): UnversionedDocument | undefined
  /**
   * Makes the calls of the adapter. Opens no connection yet. `component` starts each error message: adapter and load balancer, such as
   * `nginx edge`.
   */
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
