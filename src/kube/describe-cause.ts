/** What went wrong below HTTP, in one line; Node leaves the message of a failed connect to several addresses empty. */
export function describeCause(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) {
    return [...new Set(error.errors.map((each) => describeCause(each)))].join('; ')
  }
  if (!(error instanceof Error)) return String(error)
  const code = (error as NodeJS.ErrnoException).code
  const message = error.message === '' ? error.name : error.message
  // undici's own codes say nothing to a person that its messages do not.
  return code === undefined || message.includes(code) || code.startsWith('UND_ERR') ? message : `${message} (${code})`
}
