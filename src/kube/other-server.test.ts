import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../ports/system.ts'
import type { Credentials } from './credential.ts'
import { createOtherServer, type OtherTrust } from './other-server.ts'
import { startApiServer } from './testing/api-server.ts'
import { makeCertificates, opensslMissing } from './testing/certificates.ts'

const credentials: Credentials = {
  current: () =>
    Promise.resolve({ headers: { authorization: 'Bearer t' }, tls: { servername: 'api.internal', rejectUnauthorized: true } }),
  accepted() {},
  refused: () => false,
  close: () => expect.unreachable('they are those of the API server'),
}

async function start(status = 200) {
  const certificates = makeCertificates()
  const server = await startApiServer({ tls: { certificates } })
  onTestFinished(() => server.close())
  server.handle((_seen, response) => {
    response.writeHead(status)
    response.end('workqueue_depth{name="endpoint"} 3\n')
  })
  function read(trust: OtherTrust): Promise<string> {
    const url = `${server.url}/metrics?x=1`
    const other = createOtherServer({ url, trust, credentials, clock: systemClock, userAgent: 'sluice/test' })
    onTestFinished(() => other.close())
    return other.read()
  }
  return { server, certificates, read }
}

test.skipIf(opensslMissing)('the text of a server that is known by its authority, or by none, with the credentials', async () => {
  const { server, certificates, read } = await start()
  for (const trust of [{ ca: certificates.ca }, { isInsecure: true }])
    expect(await read(trust)).toBe('workqueue_depth{name="endpoint"} 3\n')
  expect(server.seen.map(({ url, headers, servername }) => [url, headers.authorization, servername])).toEqual(
    Array.from({ length: 2 }, () => ['/metrics?x=1', 'Bearer t', false]),
  )
})

test.skipIf(opensslMissing)('a server that is not known gets no token', async () => {
  const { server, read } = await start()
  await expect(read({})).rejects.toMatchObject({ name: 'KubeError', hint: 'give the one that signs it' })
  expect(server.seen).toEqual([])
})

test.skipIf(opensslMissing)('a refusal is an error with its status', async () => {
  const { read } = await start(403)
  await expect(read({ isInsecure: true })).rejects.toMatchObject({ name: 'KubeError', status: 403 })
})
