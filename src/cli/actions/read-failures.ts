import type { ReportFailure } from '../../report/report.ts'
import { quote } from '../../library/request/quote.ts'
import { UsageError } from '../arguments/usage-error.ts'

/** The limit is far above the size that a page can show. With `--failures <(command)`, the command may search logs first. */
const LIMITS = { largestBytes: 1 << 24, pipeDeadlineMs: 60_000, what: 'such a file' }

/** Reads the failures that others have seen, from the file of `--failures`. */
export async function readFailures(path: string): Promise<ReportFailure[]> {
  const { parseFailures } = await import('../../report/failures.ts')
  const { readBounded } = await import('../../config/read-bounded.ts')
  try {
    const read = await readBounded(path, LIMITS)
    if (!(read instanceof Uint8Array)) throw new Error(read.message)
    return parseFailures(new TextDecoder().decode(read))
  } catch (error) {
    throw new UsageError([`--failures: ${quote(path)}: ${(error as Error).message}`])
  }
}
