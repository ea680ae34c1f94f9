/** The connection cannot be set up because of a file, a context or a credential. The message says how to correct it. */
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
