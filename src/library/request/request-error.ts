/** One problem of a request. */
export interface RequestIssue {
  /** The path of the field, such as `images.app` or `settings.readyForMs`. */
  field: string
  message: string
  /** How to correct it. */
  hint?: string
}

/** A request is not valid, or this sluice does not support it; no request was sent to the cluster. `issues` lists every problem. */
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
