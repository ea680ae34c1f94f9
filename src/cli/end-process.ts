import type { ExitCode } from '../library/exit-codes.ts'
import type { Terminal } from './terminal.ts'

/** A reader that waits for the end before it reads stderr must not keep the process forever. */
const STDERR_LIMIT_MS = 2000

/**
 * Ends the process once all output has been taken. Other open handles do not keep it. Stdout has no time limit, since it is the result:
 * cut off, the output and the exit code would tell a slow reader that it is complete.
 */
export async function endProcess(code: ExitCode, { out, err, exit }: Terminal): Promise<void> {
  await out.flush()
  await err.flush(STDERR_LIMIT_MS)
  exit(code)
}
