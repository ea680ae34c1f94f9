import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { ensureKubectl } from '../cluster/binaries.ts'

/** Returns the path of kubectl: that of this machine, or one that is built for the cluster tests. */
export async function findKubectl(): Promise<string> {
  return onPath('kubectl') ?? (await ensureKubectl())
}

function onPath(program: string): string | undefined {
  const paths = (process.env['PATH'] ?? '').split(delimiter).map((one) => join(one, program))
  return paths.find((path) => {
    try {
      accessSync(path, constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}
