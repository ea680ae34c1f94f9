import { randomBytes, webcrypto } from 'node:crypto'
import { isIP } from 'node:net'
import type * as X509 from '@peculiar/x509'

/** A certificate and its private key, in PEM. */
export interface Pair {
  readonly cert: string
  readonly key: string
}

export interface Validity {
  /** In milliseconds since 1970. */
  readonly nowAt: number
  readonly validMs: number
}

/** Certificates begin this long before they are made, since the clocks of API servers may be behind. */
export const BACKDATED_MS = 3_600_000
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const

/** The library loads for a webhook that makes its own certificates, and for nothing else. */
async function load(): Promise<typeof X509> {
  // @ts-expect-error The module has no types: it only adds to the global Reflect.
  await import('reflect-metadata/Reflect.js')
  const x509 = await import('@peculiar/x509')
  x509.cryptoProvider.set(webcrypto as never)
  return x509
}

export async function makeAuthority({ nowAt, validMs }: Validity): Promise<Pair> {
  const x509 = await load()
  const keys = await makeKeys()
  const made = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serial(),
    // Authorities that are trusted at once have different names.
    name: `CN=sluice-webhook ${serial().slice(0, 12)}`,
    ...lifetime(nowAt, validMs),
    signingAlgorithm: ALGORITHM,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.digitalSignature, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  })
  return { cert: pemOf(made), key: await keyPem(keys.privateKey) }
}

/** Makes the certificate of a server with these DNS names and IP addresses. */
export async function issue(authority: Pair, names: readonly string[], { nowAt, validMs }: Validity): Promise<Pair> {
  const x509 = await load()
  const [keys, issuer] = [await makeKeys(), new x509.X509Certificate(authority.cert)]
  const made = await x509.X509CertificateGenerator.create({
    serialNumber: serial(),
    subject: 'CN=sluice-webhook',
    issuer: issuer.subject,
    ...lifetime(nowAt, validMs),
    signingAlgorithm: ALGORITHM,
    publicKey: keys.publicKey,
    signingKey: await privateKey(authority.key),
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(
        names.map((value) => ({ type: isIP(value) === 0 ? ('dns' as const) : ('ip' as const), value })),
      ),
      await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
    ],
  })
  return { cert: pemOf(made), key: await keyPem(keys.privateKey) }
}

function lifetime(nowAt: number, validMs: number): { notBefore: Date; notAfter: Date } {
  return { notBefore: new Date(nowAt - BACKDATED_MS), notAfter: new Date(nowAt + validMs) }
}

/** A positive number of 16 bytes, in hex. */
function serial(): string {
  return `01${randomBytes(15).toString('hex')}`
}

function makeKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])
}

function privateKey(pem: string): Promise<webcrypto.CryptoKey> {
  const der = Buffer.from(pem.replaceAll(/-----[A-Z ]+-----|\s/g, ''), 'base64')
  return webcrypto.subtle.importKey('pkcs8', der, ALGORITHM, false, ['sign'])
}

async function keyPem(key: webcrypto.CryptoKey): Promise<string> {
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', key))
  const lines = der.toString('base64').match(/.{1,64}/g)!
  return `-----BEGIN PRIVATE KEY-----\n${lines.join('\n')}\n-----END PRIVATE KEY-----\n`
}

function pemOf(certificate: X509.X509Certificate): string {
  return `${certificate.toString('pem').trim()}\n`
}
