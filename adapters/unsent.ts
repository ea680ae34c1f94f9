/** The names of the system calls that make a connection. */
const CONNECTING = new Set(['connect', 'getaddrinfo'])

/** True if no bytes have left: the error or one of its causes shows that there was no connection. */
export function isUnsent(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code, syscall = '' } = error as NodeJS.ErrnoException
  return code === 'UND_ERR_CONNECT_TIMEOUT' || CONNECTING.has(syscall) || isUnsent(error.cause)
}
