/** One thing that is wrong in the config file. */
export interface ConfigIssue {
  /** Such as `loadBalancers[0].options.socket`; empty for the file as a whole. */
  path: string
  message: string
  /** The way out. */
  hint?: string
  /** From 1; 0 where no place in the file can be named. */
  line: number
  column: number
}

/** Whoever has more to mend than that mends these first. */
const MOST_SHOWN = 20

/** The config cannot be used; `issues` holds everything that is wrong, in the order of the file. */
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

/** `file:line:column: path: message`, which editors and CI systems turn into links; the hint goes on a line of its own. */
function formatIssue(file: string, { path, message, hint, line, column }: ConfigIssue): string {
  const place = line === 0 ? nameOf(file) : `${nameOf(file)}:${line}:${column}`
  const text = [place, ...(path === '' ? [] : [path]), message].join(': ')
  return hint === undefined ? text : `${text}\n    ${hint}`
}

/** A name that is none, or that would break the line, in quotes. */
function nameOf(file: string): string {
  return file === '' || /\p{C}/u.test(file) ? JSON.stringify(file) : file
}
