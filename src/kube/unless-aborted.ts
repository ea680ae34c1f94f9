/** Waits no longer than until the signal: rejects with its reason then, whatever becomes of what was waited for. */
export async function unlessAborted<T>(waiting: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>()
  const abort = (): void => aborted.reject(signal.reason)
  if (signal.aborted) abort()
  signal.addEventListener('abort', abort)
  try {
    return await Promise.race([waiting, aborted.promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
