import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createPlainServer } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type Certificates, type KeyPair, makeCertificates, opensslMissing } from '../../src/kube/testing/certificates.ts'
import type { Call } from '../contract.ts'
import { createClient } from './client.ts'

describe.skipIf(opensslMissing)('over TLS', () => {
  let certificates: Certificates
  let folder: string
  beforeAll(() => {
    certificates = makeCertificates()
    folder = mkdtempSync(join(tmpdir(), 'sluice-http-tls-'))
    const { ca, client } = certificates
    for (const [name, text] of Object.entries({ ca, cert: client.cert, key: client.key })) writeFileSync(join(folder, name), text)
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  async function withServer(pair: KeyPair, use: (url: string) => Promise<void>): Promise<void> {
    const server = createServer(
      { ...pair, ca: certificates.ca, requestCert: true, rejectUnauthorized: false },
      (request, response) => {
        response.end(JSON.stringify({ known: (request.socket as TLSSocket).authorized }))
      },
    )
    server.listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    try {
      await use(`https://127.0.0.1:${(server.address() as AddressInfo).port}`)
    } finally {
      server.close()
      server.closeAllConnections()
    }
  }

  async function send(url: string, tls: Record<string, string>, call: Partial<Call> = {}): Promise<string> {
    const client = createClient('http edge', { url, tls })
    const request = { method: 'PUT', path: '/', headers: {}, body: '{}', expect: undefined, secrets: [] }
    try {
      return (await client.send(request, { deadlineMs: 20_000, assertLive: () => {}, ...call }, { isWrite: true })).text
    } finally {
      client.close()
    }
  }

  test('the authority and the client certificate come from files', async () => {
    await withServer(certificates.server, async (url) => {
      const [ca, cert, key] = ['ca', 'cert', 'key'].map((name) => join(folder, name)) as [string, string, string]
      expect(await send(url, { ca, cert, key })).toBe('{"known":true}')
      expect(await send(url, { ca })).toBe('{"known":false}')
    })
  })

  test('who is not trusted gets nothing: fatal, whatever NODE_TLS_REJECT_UNAUTHORIZED says', async () => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
    const assertLive = vi.fn<() => void>()
    try {
      await withServer(certificates.server, async (url) => {
        await expect(send(url, {}, { assertLive })).rejects.toMatchObject({
          kind: 'fatal',
          message: expect.stringContaining('tls.ca'),
        })
      })
      await withServer(certificates.misnamed, async (url) => {
        const tls = { ca: join(folder, 'ca') }
        await expect(send(url, tls, { assertLive })).rejects.toMatchObject({
          kind: 'fatal',
          message: expect.stringContaining('is for another name (ERR_TLS_CERT_ALTNAME_INVALID); write one'),
        })
      })
      expect(assertLive).not.toHaveBeenCalled()
    } finally {
      vi.unstubAllEnvs()
    }
  })

  test('plain text to a server of TLS is told as such', async () => {
    await withServer(certificates.server, async (url) => {
      await expect(send(url.replace('https:', 'http:'), {})).rejects.toThrow(/it speaks TLS; write https|is it https in url\?/)
    })
  })

  test('files that are no certificates or keys, and a server without TLS, are told as such', async () => {
    const [ca, cert] = [join(folder, 'ca'), join(folder, 'cert')]
    await withServer(certificates.server, async (url) => {
      for (const tls of [{ ca: import.meta.filename }, { cert, key: import.meta.filename }, { cert, key: cert }] as const) {
        await expect(send(url, tls)).rejects.toMatchObject({
          kind: 'fatal',
          message: expect.stringContaining(`the files of tls (${Object.values(tls).join(', ')}) cannot be used: `),
        })
      }
    })
    const plain = createPlainServer((_request, response) => void response.end('{}')).listen(0, '127.0.0.1')
    await new Promise((resolve) => plain.once('listening', resolve))
    try {
      const url = `https://127.0.0.1:${(plain.address() as AddressInfo).port}`
      await expect(send(url, { ca })).rejects.toThrow(/it does not speak TLS \(ERR_SSL_\w+\); write http in url/)
    } finally {
      plain.close()
    }
  })
})
