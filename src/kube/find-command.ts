import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'

/**
 * The program that a name means, as Go looks it up for kubectl: in the PATH that kubectl itself has, and not in one that the program is
 * given. A folder of PATH that is not absolute is passed over: it would be another one in each working directory.
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
