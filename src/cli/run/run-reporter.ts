import type { Warning } from '../../journal/account.ts'
import type { Writing } from '../../report/words/writing.ts'
import type { RunEvent, RunResult } from '../../engine/events.ts'
import { processIdentity } from '../../library/process-identity.ts'
import { loadPage, writeReportFiles, type ReportFile } from './report-files.ts'
import type { Terminal } from '../terminal.ts'

/** Follows a run, and writes its report once it has ended or broken off. */
export interface RunReporter {
  onEvent(event: RunEvent): void
  /**
   * Writes the report once; later calls do nothing. Never throws, since the run itself has its outcome: a file that could not be written
   * gives a warning.
   */
  write(ending: Pick<RunResult, 'outcome' | 'reason'>): Warning[]
}

const SILENT: RunReporter = { onEvent: () => {}, write: () => [] }

export async function createRunReporter(
  files: readonly ReportFile[],
  { clock }: Pick<Terminal, 'clock'>,
  write: Writing,
): Promise<RunReporter> {
  if (files.length === 0) return SILENT
  // The modules load before the run, since a second signal leaves no time for it.
  const page = await loadPage(files)
  const { buildReport } = await import('../../report/build-report.ts')
  const { createRecorder } = await import('../../report/recorder.ts')
  const recorder = createRecorder()
  let run = ''
  let isWritten = false
  return {
    onEvent: (event) => {
      if (event.type === 'started') run = event.run
      recorder.onEvent(event)
    },
    write: (result) => {
      if (isWritten) return []
      isWritten = true
      return unwritten().map(({ path, message }) => ({
        reason: { code: 'report-not-written', path, said: message, ...(run === '' ? {} : { run }) },
      }))

      function unwritten(): { path: string; message: string }[] {
        try {
          const now = { by: processIdentity(), at: new Date(clock.wallNow()), result }
          return writeReportFiles(files, buildReport(recorder.record(now)), { page, write })
        } catch (error) {
          return files.map(({ path }) => ({ path, message: String(error) }))
        }
      }
    },
  }
}
