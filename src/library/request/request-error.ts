/** One thing that is wrong with a request. */
export interface RequestIssue {
  /** Such as `images.app` or `settings.readyForMs`. */
  field: string
  message: string
  /** The way out. */
  hint?: string
}

/** A request cannot be understood, or cannot be met by this sluice; nothing was asked of the cluster. `issues` holds all that is wrong. */
export class RequestError extends Error {
  override readonly name = 'RequestError'
  readonly component = 'library'
  readonly issues: readonly RequestIssue[]
  constructor(issues: readonly RequestIssue[]) {
    super(issues.map(words).join('\n'))
    this.issues = issues
  }
}

function words({ field, message, hint }: RequestIssue): string {
  return hint === undefined ? `${field}: ${message}` : `${field}: ${message}: ${hint}`
}
