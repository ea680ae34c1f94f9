/** The way to a cluster cannot be set up: a file, a context, a credential. The message says what to do. */
export class KubeConfigError extends Error {
  override readonly name = 'KubeConfigError'
  readonly component = 'kubeconfig'
  /** The files that were read. */
  readonly files: string[]
  readonly context: string | undefined
  constructor(message: string, fields: { files?: string[]; context?: string | undefined; cause?: unknown } = {}) {
    super(message, { cause: fields.cause })
    this.files = fields.files ?? []
    this.context = fields.context
  }
}
