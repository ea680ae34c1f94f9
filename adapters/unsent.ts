/** Where a connection is made, by the names of the system. */
const CONNECTING = new Set(['connect', 'getaddrinfo'])

/** No byte has left: by the error, or by what caused it, no connection was made. */
export function isUnsent(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code, syscall = '' } = error as NodeJS.ErrnoException
  return code === 'UND_ERR_CONNECT_TIMEOUT' || CONNECTING.has(syscall) || isUnsent(error.cause)
}
