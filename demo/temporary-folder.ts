import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DemoError } from './demo-error.ts'

/**
 * Creates a temporary folder.
 * @throws DemoError where it cannot be created
 */
export function temporaryFolder(prefix: string): string {
  try {
    return mkdtempSync(join(tmpdir(), prefix))
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code
    throw new DemoError(`the temporary folder ${tmpdir()} cannot be written to (${why}): name another one with TMPDIR`)
  }
}
