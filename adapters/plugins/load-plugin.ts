/** An adapter from elsewhere: a package that is installed beside the config, or a file there. */
import { registerHooks } from 'node:module'
import { isAbsolute, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { z } from 'zod'
import { type AdapterDefinition, CONTRACT_VERSION } from '../contract.ts'
import { guardDefinition } from './guard-definition.ts'
import { PluginError } from './plugin-error.ts'

const PACKAGE = 'npm:'

/** Whether `adapter` of a config names a plugin: `npm:NAME`, or a path that begins with `./`, `../` or `/`. */
export function isPlugin(adapter: string): boolean {
  return adapter.startsWith(PACKAGE) || /^\.\.?\//.test(adapter) || isAbsolute(adapter)
}

const aFunction = z.custom((value) => typeof value === 'function')
const Definition = z.looseObject({
  name: z.string(),
  summary: z.string(),
  contract: z.number().optional(),
  options: z.custom((value) => typeof (value as { safeParse?: unknown } | undefined)?.safeParse === 'function'),
  prepare: aFunction.optional(),
  create: aFunction,
  serve: aFunction.optional(),
})

/**
 * The default export of the module, or its export `adapter`.
 * @throws PluginError
 */
export async function loadPlugin(adapter: string, folder: string): Promise<AdapterDefinition> {
  const module = adapter.startsWith(PACKAGE)
    ? await importPackage(adapter.slice(PACKAGE.length), folder)
    : await importModule(pathToFileURL(isAbsolute(adapter) ? adapter : join(folder, adapter)).href)
  const exported = module['default'] ?? module['adapter']
  if (exported === undefined)
    throw new PluginError('it exports no adapter', { way: 'export what defineAdapter gives as default' })
  const { success, data } = Definition.safeParse(exported)
  if (!success)
    throw new PluginError('its export is no adapter', { way: 'export what defineAdapter of sluice/adapter gives as default' })
  if (data.contract !== CONTRACT_VERSION) {
    const made =
      data.contract === undefined ? 'does not say for which contract it is made' : `is made for contract ${data.contract}`
    throw new PluginError(`it ${made}; this sluice has contract ${CONTRACT_VERSION}`, {
      way: 'use a version of the plugin that is made for it',
    })
  }
  return guardDefinition(data as unknown as AdapterDefinition)
}

/** As an `import` in a module of that folder finds it. */
async function importPackage(name: string, folder: string): Promise<Record<string, unknown>> {
  const wanted = `sluice-plugin:${name}`
  const parentURL = pathToFileURL(join(folder, 'config')).href
  const hooks = registerHooks({
    resolve: (specifier, context, next) =>
      specifier === wanted ? next(name, { ...context, parentURL }) : next(specifier, context),
  })
  try {
    return await importModule(wanted)
  } finally {
    hooks.deregister()
  }
}

async function importModule(specifier: string): Promise<Record<string, unknown>> {
  try {
    return (await import(specifier)) as Record<string, unknown>
  } catch (error) {
    throw new PluginError(error instanceof Error ? error.message : String(error), { cause: error })
  }
}
