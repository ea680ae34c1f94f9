import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'

/**
 * Finds the program of a name as Go does for kubectl: in the PATH of this process, not in a PATH that is set for the plugin. Relative
 * folders of PATH are skipped, because they depend on the working directory.
 */
export function findCommand(command: string, path = ''): string | undefined {
  if (command.includes('/')) return command
  return path
    .split(delimiter)
    .filter((folder) => isAbsolute(folder))
    .map((folder) => join(folder, command))
    .find((file) => isExecutable(file))
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}
