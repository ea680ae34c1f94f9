/** The error below HTTP in one line. Node leaves the message empty if connecting to several addresses failed. */
export function describeCause(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) {
    return [...new Set(error.errors.map((each) => describeCause(each)))].join('; ')
  }
  if (!(error instanceof Error)) return String(error)
  const { code } = error as { code?: unknown }
  const message = error.message === '' ? error.name : error.message
  // The codes of undici add nothing to its messages, and those of a DOMException are numbers.
  return typeof code !== 'string' || message.includes(code) || code.startsWith('UND_ERR') ? message : `${message} (${code})`
}
