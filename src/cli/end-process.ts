import type { ExitCode } from '../library/exit-codes.ts'
import type { Terminal } from './terminal.ts'

/** Whoever waits for the end and reads stderr later, or never, must not keep the process for ever. */
const STDERR_LIMIT_MS = 2000

/**
 * Ends the process when all output has been taken. Nothing else that is still open keeps it. stdout is the result, and has no
 * limit: a pager, a slow line or a busy reader has all of it, or goes away. Cut off, it would look whole to its reader, and
 * the exit code would say so too.
 */
export async function endProcess(code: ExitCode, { out, err, exit }: Terminal): Promise<void> {
  await out.flush()
  await err.flush(STDERR_LIMIT_MS)
  exit(code)
}
