import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { createSecureContext } from 'node:tls'
import { readBounded } from '../config/read-bounded.ts'
import { ServerError } from './server-error.ts'

/** Two files in PEM. The file of the certificate begins with it, and the certificates that lead to its authority follow. */
export interface CertificateFiles {
  certFile: string
  keyFile: string
}

export interface Certificate {
  cert: string
  key: string
  /** The end of the validity, in milliseconds since 1970. */
  endsAt: number
}

/** A certificate that is renewed by another mechanism than files. */
export interface CertificateSource {
  current(): Certificate
  /** Calls `renewed` with each new certificate. Returns a function that ends the calls. */
  follow(renewed: (certificate: Certificate) => void): () => void
}

const LIMITS = { largestBytes: 1 << 20, pipeDeadlineMs: 1000, what: 'a certificate or a key' }
const TRIES = 5
const TRY_AGAIN_MS = 100

/**
 * Reads and checks a certificate and its key. A pair that does not fit is read again, since the files may have been replaced between the
 * two reads.
 * @throws ServerError that names the file
 */
export async function readCertificate(files: CertificateFiles): Promise<Certificate> {
  for (let tried = 1; ; tried++)
    try {
      return checkPair(files, await readPem(files.certFile), await readPem(files.keyFile))
    } catch (error) {
      const mayFit = error instanceof ServerError && error.problem.code === 'key-of-another-certificate'
      if (!mayFit || tried === TRIES) throw error
      await wait(TRY_AGAIN_MS)
    }
}

async function readPem(file: string): Promise<string> {
  const bytes = await readBounded(file, LIMITS).catch((error: unknown) => {
    throw new ServerError({ code: 'file-unreadable', file }, error)
  })
  if (bytes instanceof Uint8Array) return Buffer.from(bytes).toString('utf8')
  throw new ServerError({ code: 'file-unreadable', file }, new Error(bytes.message))
}

function checkPair({ certFile, keyFile }: CertificateFiles, cert: string, key: string): Certificate {
  const leaf = parseCertificate(certFile, cert)
  if (!leaf.checkPrivateKey(parseKey(keyFile, key)))
    throw new ServerError({ code: 'key-of-another-certificate', file: keyFile, certFile })
  try {
    createSecureContext({ cert, key })
  } catch (error) {
    throw new ServerError({ code: 'certificate-refused', file: certFile }, error)
  }
  return { cert, key, endsAt: Date.parse(leaf.validTo) }
}

function parseCertificate(file: string, pem: string): X509Certificate {
  try {
    return new X509Certificate(pem)
  } catch (error) {
    throw new ServerError({ code: 'no-certificate', file }, error)
  }
}

function parseKey(file: string, pem: string): KeyObject {
  try {
    return createPrivateKey(pem)
  } catch (error) {
    const encrypted = /^-----BEGIN ENCRYPTED |^Proc-Type: 4,ENCRYPTED/m.test(pem)
    throw new ServerError({ code: encrypted ? 'private-key-encrypted' : 'no-private-key', file }, encrypted ? undefined : error)
  }
}
