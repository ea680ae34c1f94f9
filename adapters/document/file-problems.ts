/** The errors of the scripts in file-scripts.ts. Each tells the reason and the solution. A failed script has changed nothing. */
import { AdapterError, type AdapterErrorKind } from '../contract.ts'
import { STATUS } from './file-scripts.ts'

export interface FilePlace {
  /** The file for messages, with its host. */
  file: string
  temporaryFolder: string | undefined
}

type Problem = [kind: AdapterErrorKind, message: string]

export function readProblem(component: string, { file }: FilePlace, status: number, output: string): AdapterError {
  const known: Record<number, Problem> = { ...finding(file) }
  return problem(component, known[status] ?? ['retryable', `cannot read ${file}`], status, output)
}

export function writeProblem(component: string, place: FilePlace, status: number, output: string): AdapterError {
  const { file, temporaryFolder } = place
  const folder = temporaryFolder ?? `the folder of ${file}`
  const known: Record<number, Problem> = {
    ...finding(file),
    [STATUS.noTemporaryFolder]: ['retryable', `there is no folder ${folder}: make it, on the file system of ${file}`],
    [STATUS.readOnly]: [
      'fatal',
      `no permission to write in ${folder}${temporaryFolder === undefined ? '' : `, or in that of ${file}`}, or it is read-only: ` +
        'a new file takes the place of the old one, and its lock lies beside it, so the folder must be writable',
    ],
    [STATUS.otherFileSystem]: [
      'fatal',
      `${folder} and ${file} are on different file systems, where no rename is possible: ` +
        (temporaryFolder === undefined
          ? 'the file is a mount of its own, so mount its folder in its place'
          : 'name a folder on the same one'),
    ],
    [STATUS.ownerLost]: ['fatal', `${file} cannot keep its owner and mode: run as its owner, or as root`],
    [STATUS.halfWritten]: ['retryable', `no whole new file could be made in ${folder}: is there space left?`],
    [STATUS.notRenamed]: [
      'fatal',
      `${file} cannot be replaced: it is immutable, or a mount of its own, whose folder must be mounted in its place`,
    ],
    [STATUS.noProgram]: [
      'fatal',
      `a program for the write of ${file} is not there: it takes flock of util-linux, coreutils, or BusyBox with both`,
    ],
    [STATUS.locked]: ['retryable', `another process holds the lock of ${file}`],
    [STATUS.guarded]: ['conflict', `what ${file} depends on has changed since it was read`],
    [STATUS.changed]: ['conflict', `${file} is another one than was read`],
  }
  return problem(component, known[status] ?? ['retryable', `cannot write ${file}`], status, output)
}

function finding(file: string): Record<number, Problem> {
  return {
    // A tool that replaces the file may have removed it for a moment.
    [STATUS.missing]: ['retryable', `there is no file ${file}`],
    [STATUS.noFile]: ['fatal', `${file} is no file: name the file itself`],
    [STATUS.unreadable]: ['fatal', `no permission to read ${file}: see its mode and owner, and those of its folder`],
  }
}

function problem(component: string, [kind, message]: Problem, status: number, output: string): AdapterError {
  const words = output.trim().split('\n').slice(-3).join('; ')
  const known = Object.values(STATUS).some((one) => one === status)
  const said = [...(known ? [] : [`exit code ${status}`]), ...(words === '' ? [] : [words])].join(': ')
  return new AdapterError(component, kind, said === '' ? message : `${message} (${said})`)
}
