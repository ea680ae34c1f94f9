/** The command line is invalid. `problems` lists all mistakes. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  readonly component = 'cli'
  readonly problems: readonly string[]
  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
    this.problems = problems
  }
}
