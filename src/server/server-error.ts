interface ServerErrorFields {
  /** The text is no host and port. */
  'listen-address-invalid': { listen: string }
  'address-in-use': { listen: string }
  /** The machine does not have the address, or the name cannot be resolved. */
  'address-not-here': { listen: string }
  'port-not-permitted': { listen: string }
  'listen-failed': { listen: string }
  'file-unreadable': { file: string }
  'no-certificate': { file: string }
  'no-private-key': { file: string }
  'private-key-encrypted': { file: string }
  'key-of-another-certificate': { file: string; certFile: string }
  /** OpenSSL refuses the certificate, for example for a key that is too short. */
  'certificate-refused': { file: string }
}

export type ServerErrorCode = keyof ServerErrorFields

/** An error code, with the address or the file that the error is about. */
export type ServerProblem = { [C in ServerErrorCode]: { readonly code: C } & Readonly<ServerErrorFields[C]> }[ServerErrorCode]

/** The server cannot start, or cannot use a new certificate. */
export class ServerError extends Error {
  override readonly name = 'ServerError'
  readonly component = 'server'
  readonly problem: ServerProblem
  constructor(problem: ServerProblem, cause?: unknown) {
    super(`${sentence(problem)}${said(cause)}`, { cause })
    this.problem = problem
  }
}

function sentence(problem: ServerProblem): string {
  switch (problem.code) {
    case 'listen-address-invalid':
      return `${JSON.stringify(problem.listen)} is no address to listen on: write HOST:PORT, [IPV6]:PORT, or :PORT for all addresses`
    case 'address-in-use':
      return `Another program listens on ${problem.listen}; choose another port`
    case 'address-not-here':
      return `This machine does not have the address of ${problem.listen}`
    case 'port-not-permitted':
      return `This user may not listen on ${problem.listen}: ports below 1024 need a right of their own`
    case 'listen-failed':
      return `Cannot listen on ${problem.listen}`
    case 'file-unreadable':
      return `Cannot read ${problem.file}`
    case 'no-certificate':
      return `${problem.file} holds no certificate in PEM`
    case 'no-private-key':
      return `${problem.file} holds no private key in PEM`
    case 'private-key-encrypted':
      return `The private key in ${problem.file} is encrypted: write it without a passphrase`
    case 'key-of-another-certificate':
      return `The private key in ${problem.file} is not the one of the certificate in ${problem.certFile}`
    case 'certificate-refused':
      return `The certificate in ${problem.file} cannot be used`
  }
}

function said(cause: unknown): string {
  return cause instanceof Error ? `: ${cause.message}` : ''
}
