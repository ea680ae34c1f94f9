/** Loads an external adapter: a package that is installed next to the config, or a file. */
import { existsSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { isAbsolute, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { z } from 'zod'
import { type AdapterDefinition, CONTRACT_VERSION } from '../contract.ts'
import { guardDefinition } from './guard-definition.ts'
import { PluginError } from './plugin-error.ts'

const PACKAGE = 'npm:'

/** True if `adapter` in the config is a plugin: `npm:NAME`, or a path that starts with `./`, `../` or `/`. */
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
 * Loads the default export of the module, or its export `adapter`.
 * @throws PluginError
 */
export async function loadPlugin(adapter: string, folder: string): Promise<AdapterDefinition> {
  const module = adapter.startsWith(PACKAGE)
    ? await importPackage(adapter.slice(PACKAGE.length), folder)
    : await importFile(isAbsolute(adapter) ? adapter : join(folder, adapter))
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

async function importFile(file: string): Promise<Record<string, unknown>> {
  if (!existsSync(file))
    throw new PluginError(`there is no file ${file}`, { way: 'write its path as seen from the folder of the config file' })
  return importModule(pathToFileURL(file).href)
}

/** Imports the package as a module in that folder would. */
async function importPackage(name: string, folder: string): Promise<Record<string, unknown>> {
  const wanted = `sluice-plugin:${name}`
  const parentURL = pathToFileURL(join(folder, 'config')).href
  const hooks = registerHooks({
    resolve: (specifier, context, next) =>
      specifier === wanted ? next(name, { ...context, parentURL }) : next(specifier, context),
  })
  try {
    return await importModule(wanted)
  } catch (error) {
    // If a package that the plugin itself imports is missing, the message is that of Node, which names the importing file.
    const isMissing = error instanceof PluginError && error.message.endsWith(` imported from ${fileURLToPath(parentURL)}`)
    if (!isMissing) throw error
    const way = `run npm install ${name} in ${folder}`
    throw new PluginError(`the package ${name} is not installed`, { way, cause: error.cause })
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
