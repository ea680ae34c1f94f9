/** The reason why a plugin cannot be used. */
export class PluginError extends Error {
  override readonly name = 'PluginError'
  readonly component = 'plugins'
  /** The solution, if it is known. */
  readonly way: string | undefined
  constructor(problem: string, options: { way?: string; cause?: unknown } = {}) {
    super(problem, { cause: options.cause })
    this.way = options.way
  }
}
