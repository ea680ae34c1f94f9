import { createPrivateKey, X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { field, stringField } from '../../kube/json.ts'
import type { Pair } from './issue.ts'

/** The certificates of the webhook, as a Secret has them. */
export interface StoredCertificates {
  /** The certificates of the authorities that clients trust; the newest first. */
  readonly authorities: readonly string[]
  /** The private key of the newest authority. */
  readonly authorityKey: string
  readonly server: Pair
}

/** What a certificate says, with instants in milliseconds since 1970. */
export interface CertificateFacts {
  readonly beginsAt: number
  readonly endsAt: number
}

const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

export function splitPem(text: string): string[] {
  return (text.match(PEM) ?? []).map((one) => `${one}\n`)
}

export function factsOf(pem: string): CertificateFacts {
  const { validFrom, validTo } = new X509Certificate(pem)
  return { beginsAt: Date.parse(validFrom), endsAt: Date.parse(validTo) }
}

/** Whether the authority has signed the certificate. */
export function isIssuedBy(cert: string, authority: string): boolean {
  const [leaf, ca] = [new X509Certificate(cert), new X509Certificate(authority)]
  return leaf.checkIssued(ca) && leaf.verify(ca.publicKey)
}

/** The DNS names and IP addresses that the certificate lacks. */
export function missingNames(cert: string, names: readonly string[]): string[] {
  const leaf = new X509Certificate(cert)
  return names.filter((name) => (isIP(name) === 0 ? leaf.checkHost(name) : leaf.checkIP(name)) === undefined)
}

/** Reads the Secret. Undefined where a part is missing or does not fit the others, as after an edit. */
export function readSecret(secret: unknown): StoredCertificates | undefined {
  const data = field(secret, 'data')
  const text = (key: string): string => Buffer.from(stringField(data, key) ?? '', 'base64').toString('utf8')
  try {
    const authorities = splitPem(text('ca.crt')).toSorted((a, b) => factsOf(b).beginsAt - factsOf(a).beginsAt)
    const [authorityKey, server] = [text('ca.key'), { cert: text('tls.crt'), key: text('tls.key') }]
    const [newest] = authorities
    const fits =
      newest !== undefined &&
      new X509Certificate(newest).checkPrivateKey(createPrivateKey(authorityKey)) &&
      new X509Certificate(server.cert).checkPrivateKey(createPrivateKey(server.key)) &&
      authorities.some((authority) => isIssuedBy(server.cert, authority))
    return fits ? { authorities, authorityKey, server } : undefined
  } catch {
    return undefined
  }
}

/** The `data` of the Secret. */
export function secretData({ authorities, authorityKey, server }: StoredCertificates): Record<string, string> {
  const texts = { 'ca.crt': authorities.join(''), 'ca.key': authorityKey, 'tls.crt': server.cert, 'tls.key': server.key }
  return Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString('base64')]))
}
