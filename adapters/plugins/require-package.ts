/** A package that an adapter needs and its users install: beside the config, or beside sluice. */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { PluginError } from './plugin-error.ts'

/**
 * The module that a `require` in the folder of the config gives, or else one where sluice is.
 * @throws PluginError that says how to install it
 */
export function requirePackage(name: string, folder: string): unknown {
  for (const from of [join(folder, 'config'), import.meta.filename]) {
    const require = createRequire(from)
    try {
      require.resolve(name)
    } catch {
      continue
    }
    try {
      return require(name)
    } catch (error) {
      throw new PluginError(`the package ${name} cannot be loaded: ${(error as Error).message}`, { cause: error })
    }
  }
  throw new PluginError(`the package ${name} is not installed`, { way: `npm install ${name}, in ${folder} or above it` })
}
