import { worded } from '../../report/words/document.ts'
import type { Writing } from '../../report/words/writing.ts'
import { randomUUID } from 'node:crypto'
import { lstatSync, readlinkSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, extname, join, resolve } from 'node:path'
import { inertJson } from '../../report/inert.ts'
import type { reportPage } from '../../report/html/page.ts'
import type { Report } from '../../report/report.ts'
import { UsageError } from '../arguments/usage-error.ts'

/** A file for a report. The file is checked before the run touches anything. */
export interface ReportFile {
  path: string
  format: 'html' | 'json'
}

/** Throws a UsageError with all mistakes, such as another ending or a folder that cannot be written to. */
export function parseReportFiles(paths: readonly string[] = [], { dryRun }: { dryRun?: boolean | undefined } = {}): ReportFile[] {
  const problems: string[] = []
  if (paths.length > 0 && dryRun === true) problems.push('--report: a dry run does nothing that could be reported')
  const files = paths.flatMap((path): ReportFile[] => {
    const ending = extname(path).toLowerCase()
    const problem = ending === '.html' || ending === '.json' ? placeProblem(path) : 'the name must end in .html or .json'
    if (problem !== undefined) problems.push(`--report: ${JSON.stringify(path)}: ${problem}`)
    return [{ path, format: ending === '.json' ? 'json' : 'html' }]
  })
  if (problems.length > 0) throw new UsageError(problems)
  return files
}

/** Creates and removes a temporary file: no other test covers rights, quotas and read-only file systems. */
function placeProblem(path: string): string | undefined {
  try {
    // statSync throws for every problem except a missing file: a name that is too long, a circle of links, a folder without access.
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return 'it is a folder'
    const trial = temporaryBeside(placeOf(path))
    writeFileSync(trial, '', { flag: 'wx' })
    rmSync(trial)
    return undefined
  } catch (error) {
    return `it cannot be written there (${reasonOf(error)})`
  }
}

/** Removes the file from the end of the message: the file may be the temporary file, which the user does not know. */
function reasonOf(error: unknown): string {
  const { message, syscall } = error as NodeJS.ErrnoException
  return syscall === undefined ? message : message.split(',')[0]!
}

/** Follows links: a rename onto a link would replace the link. */
function placeOf(path: string): string {
  if (!lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) return path
  const leadsToFile = statSync(path, { throwIfNoEntry: false }) !== undefined
  return leadsToFile ? realpathSync(path) : placeOf(resolve(realpathSync(dirname(path)), readlinkSync(path)))
}

/** The function that writes an HTML report. The module loads only where a page is wanted. */
export type Page = typeof reportPage

export async function loadPage(files: readonly ReportFile[]): Promise<Page | undefined> {
  return files.some(({ format }) => format === 'html') ? (await import('../../report/html/page.ts')).reportPage : undefined
}

/**
 * Writes each file whole or not at all, and returns the files that could not be written. The write is synchronous, since the process may
 * be told to end at once.
 */
export function writeReportFiles(
  files: readonly ReportFile[],
  report: Report,
  { page, write }: { page: Page | undefined; write: Writing },
): UnwrittenFile[] {
  return files.flatMap(({ path, format }) => {
    try {
      writeWhole(placeOf(path), format === 'html' ? page!(report, write) : `${inertJson(worded(report, write), 2)}\n`)
      return []
    } catch (error) {
      return [{ path, message: reasonOf(error) }]
    }
  })
}

function writeWhole(place: string, text: string): void {
  const temporary = temporaryBeside(place)
  try {
    writeFileSync(temporary, text, { flag: 'wx' })
    renameSync(temporary, place)
  } catch (error) {
    try {
      rmSync(temporary, { force: true })
    } catch {
      // The folder is gone. The caller reports the file as unwritten.
    }
    throw error
  }
}

export interface UnwrittenFile {
  path: string
  message: string
}

/** The file is in the target folder, since a rename is atomic only within one file system. */
function temporaryBeside(path: string): string {
  return join(dirname(path), `.sluice-report-${randomUUID()}.tmp`)
}
