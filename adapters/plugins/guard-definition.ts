/** Checks the results of a plugin's functions like its export, because TypeScript may not have checked the plugin. */
import type { Adapter, AdapterDefinition } from '../contract.ts'
import { adapterProblem } from '../check-definition.ts'
import { PluginError } from './plugin-error.ts'

/** Wraps a definition: `prepare` and `create` throw a PluginError if their results do not follow the contract. */
export function guardDefinition(definition: AdapterDefinition): AdapterDefinition {
  const { name } = definition
  return {
    ...definition,
    ...(definition.prepare && {
      prepare(options, context) {
        assertNow(`prepare of ${name}`, definition.prepare!(options, context))
      },
    }),
    create(options, context): Adapter {
      const made: unknown = definition.create(options, context)
      assertNow(`create of ${name}`, made)
      const problem = adapterProblem(made)
      if (problem === undefined) return made as Adapter
      throw new PluginError(`create of ${name} gives no adapter: ${problem}`, {
        way: 'give what docs/adapters.md names, or use defineAdapter',
      })
    },
  }
}

/** Refuses a promise. It also handles its rejection, because an unhandled one would end the process. */
function assertNow(what: string, made: unknown): void {
  if (typeof (made as { then?: unknown } | null | undefined)?.then !== 'function') return
  Promise.resolve(made).catch(() => {})
  throw new PluginError(`${what} gives a promise`, {
    way: 'make it a function that is not async, and wait in the calls of the adapter',
  })
}
