/** The files of a connection: the CA, and the token or the password. Each is read anew for each request, so that a rotated file works. */
import { X509Certificate } from 'node:crypto'
import { readBounded } from '../../config/read-bounded.ts'
import type { SourceFault } from './look.ts'

export interface CredentialFiles {
  /** PEM: the certificates to trust, in place of those of the system. */
  caFile?: string
  /** A file with a token. */
  bearerFile?: string
  /** A file with USER:PASSWORD. */
  basicFile?: string
}

export interface Credentials {
  ca?: string
  authorization?: string
}

/** A file of credentials cannot be used. */
export class CredentialError extends Error {
  readonly fault: SourceFault
  constructor(file: string, said: string) {
    super(said)
    this.fault = { code: 'credential', file, said }
  }
}

const LIMITS = { largestBytes: 1 << 20, pipeDeadlineMs: 1000, what: 'a file of credentials' }
/** The characters of a header value. */
const VISIBLE = /^[\x21-\x7e]+$/

/** @throws CredentialError */
export async function readCredentials({ caFile, bearerFile, basicFile }: CredentialFiles): Promise<Credentials> {
  const ca = caFile === undefined ? undefined : await readCa(caFile)
  const authorization =
    bearerFile !== undefined ? await readBearer(bearerFile) : basicFile !== undefined ? await readBasic(basicFile) : undefined
  return { ...(ca === undefined ? {} : { ca }), ...(authorization === undefined ? {} : { authorization }) }
}

async function readCa(file: string): Promise<string> {
  const pem = await readText(file)
  try {
    // Node ignores an invalid certificate in `ca`, and then trusts no server at all.
    void new X509Certificate(pem)
  } catch (error) {
    throw new CredentialError(file, (error as Error).message)
  }
  return pem
}

async function readBearer(file: string): Promise<string> {
  const token = (await readText(file)).trim()
  if (!VISIBLE.test(token)) throw new CredentialError(file, 'no token on one line')
  return `Bearer ${token}`
}

async function readBasic(file: string): Promise<string> {
  const pair = (await readText(file)).replace(/\r?\n$/, '')
  if (!/^[^:\n]+:[^\n]*$/.test(pair)) throw new CredentialError(file, 'no USER:PASSWORD on one line')
  return `Basic ${Buffer.from(pair).toString('base64')}`
}

async function readText(file: string): Promise<string> {
  const bytes = await readBounded(file, LIMITS).catch((error: unknown) => {
    throw new CredentialError(file, (error as Error).message)
  })
  if (!(bytes instanceof Uint8Array)) throw new CredentialError(file, bytes.message)
  return Buffer.from(bytes).toString('utf8')
}
