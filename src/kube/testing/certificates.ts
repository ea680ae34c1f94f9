import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface KeyPair {
  cert: string
  key: string
}

export interface Certificates {
  ca: string
  /** A certificate for localhost and 127.0.0.1. */
  server: KeyPair
  /** The certificate that replaces `server`. */
  renewedServer: KeyPair
  /** A certificate for api.internal only. */
  misnamed: KeyPair
  client: KeyPair
  /** The certificate that replaces `client`. */
  renewed: KeyPair
}

/** True if the openssl command is missing; TLS tests are then skipped: `test.skipIf(opensslMissing)`. */
export const opensslMissing = spawnSync('openssl', ['version']).error !== undefined
if (opensslMissing) console.warn('Tests with TLS are skipped: the command openssl is missing')

/** Creates a certificate authority and its certificates with the openssl command. */
export function makeCertificates(): Certificates {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-certificates-'))
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
  const read = (file: string) => readFileSync(join(folder, file), 'utf8')

  function request(name: string, subject: string): void {
    openssl(
      'req',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-subj',
      subject,
      '-keyout',
      `${name}.key`,
      '-out',
      `${name}.csr`,
    )
  }

  function pair(name: string, subject: string, extensions: string): KeyPair {
    request(name, subject)
    writeFileSync(join(folder, `${name}.ext`), extensions)
    openssl(
      'x509',
      '-req',
      '-in',
      `${name}.csr`,
      '-CA',
      'ca.crt',
      '-CAkey',
      'ca.key',
      '-CAcreateserial',
      '-days',
      '2',
      '-extfile',
      `${name}.ext`,
      '-out',
      `${name}.crt`,
    )
    return { cert: read(`${name}.crt`), key: read(`${name}.key`) }
  }

  try {
    request('ca', '/CN=test-ca')
    writeFileSync(join(folder, 'ca.ext'), 'basicConstraints=critical,CA:TRUE\nkeyUsage=keyCertSign')
    openssl('x509', '-req', '-in', 'ca.csr', '-signkey', 'ca.key', '-days', '2', '-extfile', 'ca.ext', '-out', 'ca.crt')
    return {
      ca: read('ca.crt'),
      server: pair('server', '/CN=api', 'subjectAltName=DNS:localhost,IP:127.0.0.1,IP:::1'),
      renewedServer: pair('renewed-server', '/CN=api-renewed', 'subjectAltName=DNS:localhost,IP:127.0.0.1,IP:::1'),
      misnamed: pair('misnamed', '/CN=api', 'subjectAltName=DNS:api.internal'),
      client: pair('client', '/O=system:masters/CN=alice', 'extendedKeyUsage=clientAuth'),
      renewed: pair('renewed', '/O=system:masters/CN=alice-renewed', 'extendedKeyUsage=clientAuth'),
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}
