/** Loads a package that an adapter needs and the user installs, next to the config or next to sluice. */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { PluginError } from './plugin-error.ts'

/**
 * Requires the module from the folder of the config, or else from the folder of sluice.
 * @throws PluginError that tells how to install the package
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
