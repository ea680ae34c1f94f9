import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { Agent } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Certificates, type KeyPair, makeCertificates, opensslMissing } from '../kube/testing/certificates.ts'
import type { Limits } from './limits.ts'
import { serve, type Served, type ServerEvent } from './serve.ts'
import { ask, connectRaw } from './testing/ask.ts'

describe.skipIf(opensslMissing)('certificates', () => {
  let ca: string
  let [first, second]: KeyPair[] = []
  let folder: string
  let served: Served | undefined
  let events: ServerEvent[]

  beforeAll(() => {
    const made: Certificates = makeCertificates()
    ca = made.ca
    ;[first, second] = [made.server, made.renewedServer]
  })
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-server-'))
    for (const name of ['tls.crt', 'tls.key']) symlinkSync(join('..data', name), join(folder, name))
    events = []
  })
  afterEach(async () => {
    await served?.close({ graceMs: 0 })
    served = undefined
    rmSync(folder, { recursive: true })
  })

  let versions = 0
  /** Writes the files as the kubelet writes a Secret: both lead through one link, which is replaced in one step. */
  function mount({ cert, key }: KeyPair): void {
    const version = `..version-${versions++}`
    mkdirSync(join(folder, version))
    writeFileSync(join(folder, version, 'tls.crt'), cert)
    writeFileSync(join(folder, version, 'tls.key'), key)
    symlinkSync(version, join(folder, '..next'))
    renameSync(join(folder, '..next'), join(folder, '..data'))
  }

  const files = () => ({ certFile: join(folder, 'tls.crt'), keyFile: join(folder, 'tls.key') })

  async function start(limits: Partial<Limits> = {}): Promise<Served> {
    served = await serve({
      listen: '127.0.0.1:0',
      notReady: () => [],
      tls: files(),
      certificateEveryMs: 20,
      limits,
      onEvent: (event) => events.push(event),
    })
    return served
  }

  test('it is served by HTTPS, and a client that trusts the authority takes it', async () => {
    mount(first!)
    const { url } = await start()
    expect(url).toMatch(/^https:\/\/127\.0\.0\.1:/)
    expect(await ask(`${url}/livez`, { ca })).toMatchObject({ status: 200, certifiedAs: 'api' })
    await expect(ask(`${url}/livez`)).rejects.toMatchObject({ code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' })
  })

  test('a certificate that is replaced under load is taken without a failed request, and connections go on', async () => {
    mount(first!)
    const { url } = await start()
    const kept = new Agent({ ca, keepAlive: true, maxSockets: 1 })
    await ask(`${url}/livez`, { agent: kept })
    const seen = new Set<string>()
    const load = { isOver: false }
    let requests = 0
    // Three clients open a connection for each request, which gets the current certificate. The fourth resumes its last session.
    const resuming = new Agent({ ca, keepAlive: false })
    const clients = [undefined, undefined, undefined, resuming].map(async (agent) => {
      while (!load.isOver) {
        const { status, certifiedAs } = await ask(`${url}/livez`, agent === undefined ? { ca } : { agent })
        expect(status).toBe(200)
        if (agent === undefined) seen.add(certifiedAs!)
        requests++
      }
    })
    const all = Promise.all(clients)
    try {
      await expect.poll(() => requests).toBeGreaterThan(20)
      expect([...seen]).toEqual(['api'])
      for (const [pair, name] of [
        [second!, 'api-renewed'],
        [first!, 'api'],
        [second!, 'api-renewed'],
      ] as const) {
        mount(pair)
        seen.clear()
        await expect.poll(() => seen.has(name)).toBe(true)
        const before = requests
        await expect.poll(() => requests).toBeGreaterThan(before + 10)
      }
    } finally {
      load.isOver = true
      await all
    }
    expect(await ask(`${url}/livez`, { agent: kept })).toMatchObject({ status: 200, certifiedAs: 'api' })
    kept.destroy()
    expect(events.map(({ type }) => type)).toEqual(['certificateRenewed', 'certificateRenewed', 'certificateRenewed'])
  })

  test('a replacement that cannot be used is told once, and the certificate in use stays until one that can', async () => {
    mount(first!)
    const { url } = await start()
    mount({ cert: 'no certificate', key: first!.key })
    await expect.poll(() => events.length).toBe(1)
    expect(events[0]).toMatchObject({
      type: 'certificateRefused',
      error: { problem: { code: 'no-certificate', file: files().certFile } },
    })
    expect(await ask(`${url}/livez`, { ca })).toMatchObject({ certifiedAs: 'api' })
    mount(second!)
    await expect.poll(() => events.length).toBe(2)
    expect(events[1]).toMatchObject({ type: 'certificateRenewed', certFile: files().certFile })
    expect((events[1] as { endsAt: number }).endsAt).toBeGreaterThan(Date.now())
    expect(await ask(`${url}/livez`, { ca })).toMatchObject({ certifiedAs: 'api-renewed' })
  })

  test('a client that does not finish its handshake is cut, and the close of the server waits for none', async () => {
    mount(first!)
    const { port, close } = await start({ headersMs: 200 })
    const mute = await connectRaw(port)
    await mute.gone
    const begun = await connectRaw(port)
    begun.socket.write(Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00]))
    expect(await close({ graceMs: 20_000 })).toEqual({ cut: 0 })
    await begun.gone
  })

  test('a key that is written after its certificate is waited for', async () => {
    mount({ cert: second!.cert, key: first!.key })
    const starting = start()
    setTimeout(() => mount(second!), 50)
    const { url } = await starting
    expect(await ask(`${url}/livez`, { ca })).toMatchObject({ certifiedAs: 'api-renewed' })
  })

  test.each([
    { what: 'no certificate', code: 'no-certificate', named: 'tls.crt', pair: () => ({ ...first!, cert: 'what' }) },
    { what: 'an empty certificate', code: 'no-certificate', named: 'tls.crt', pair: () => ({ ...first!, cert: '' }) },
    { what: 'no key', code: 'no-private-key', named: 'tls.key', pair: () => ({ ...first!, key: first!.cert }) },
    {
      what: 'a locked key',
      code: 'private-key-encrypted',
      named: 'tls.key',
      pair: () => ({ ...first!, key: locked(first!.key) }),
    },
    { what: 'another key', code: 'key-of-another-certificate', named: 'tls.key', pair: () => ({ ...first!, key: second!.key }) },
  ])('$what is refused by the name of the file', async ({ code, named, pair }) => {
    mount(pair())
    const error = await start().catch((reason: unknown) => reason)
    const file = join(folder, named)
    expect(error).toMatchObject({ name: 'ServerError', problem: { code, file } })
    expect((error as Error).message).toContain(file)
  })

  test('files that are not there, or are none, are named', async () => {
    await expect(start()).rejects.toMatchObject({
      problem: { code: 'file-unreadable', file: files().certFile },
      cause: { code: 'ENOENT' },
    })
    mount(first!)
    rmSync(files().keyFile)
    mkdirSync(files().keyFile)
    await expect(start()).rejects.toThrow(`Cannot read ${files().keyFile}: is a directory`)
  })

  function locked(key: string): string {
    return execFileSync('openssl', ['pkcs8', '-topk8', '-passout', 'pass:secret'], { input: key, encoding: 'utf8' })
  }
})
