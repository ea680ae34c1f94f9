/** One problem of the config file. */
export interface ConfigIssue {
  /** Such as `loadBalancers[0].options.socket`; empty for the file as a whole. */
  path: string
  message: string
  /** How to correct it. */
  hint?: string
  /** The line from 1; 0 if the problem has no place in the file. */
  line: number
  column: number
}

/** The message shows the first problems only; a file with more problems is corrected step by step. */
const MOST_SHOWN = 20

/** The config is not usable. `issues` lists every problem, in the order of the file. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly component = 'config'
  readonly file: string
  readonly issues: readonly ConfigIssue[]
  constructor(file: string, issues: readonly ConfigIssue[], options: { cause?: unknown } = {}) {
    const inOrder = issues.toSorted((a, b) => a.line - b.line || a.column - b.column)
    const lines = inOrder.slice(0, MOST_SHOWN).map((issue) => formatIssue(file, issue))
    const more = inOrder.length - lines.length
    if (more > 0)
      lines.push(
        `${nameOf(file)}: and ${more} more ${more === 1 ? 'mistake' : 'mistakes'}\n    mend these first; is this the right file?`,
      )
    super(lines.join('\n'), options)
    this.file = file
    this.issues = inOrder
  }
}

/** `file:line:column: path: message`, which editors and CI systems turn into links. The hint follows on a line of its own. */
function formatIssue(file: string, { path, message, hint, line, column }: ConfigIssue): string {
  const place = line === 0 ? nameOf(file) : `${nameOf(file)}:${line}:${column}`
  const text = [place, ...(path === '' ? [] : [path]), message].join(': ')
  return hint === undefined ? text : `${text}\n    ${hint}`
}

/** The file name; in quotes if it is empty, or would break the line. */
function nameOf(file: string): string {
  return file === '' || /\p{C}/u.test(file) ? JSON.stringify(file) : file
}
