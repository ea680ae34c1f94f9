/** Why a plugin is none. */
export class PluginError extends Error {
  override readonly name = 'PluginError'
  readonly component = 'plugins'
  /** What to do about it, where that is known. */
  readonly way: string | undefined
  constructor(problem: string, options: { way?: string; cause?: unknown } = {}) {
    super(problem, { cause: options.cause })
    this.way = options.way
  }
}
