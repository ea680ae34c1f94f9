import type { ExitCode } from './exit-codes.ts'
import type { Terminal } from './terminal.ts'

/** A reader that has stopped reading must not keep the process for ever. */
const FLUSH_LIMIT_MS = 2000

/** Ends the process when all output has been taken. Nothing that is still open keeps it. */
export async function endProcess(code: ExitCode, { out, err, exit }: Terminal): Promise<void> {
  await out.flush(FLUSH_LIMIT_MS)
  await err.flush(FLUSH_LIMIT_MS)
  exit(code)
}
