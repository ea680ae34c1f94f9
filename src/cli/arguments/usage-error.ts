/** The command line cannot be understood; `problems` holds everything that is wrong with it. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  readonly component = 'cli'
  readonly problems: readonly string[]
  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
    this.problems = problems
  }
}
