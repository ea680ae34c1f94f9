/** Waits until the signal fires at most, and then rejects with its reason; the work itself goes on. */
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
