import { gzipSync } from 'node:zlib'
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Certificates, makeCertificates, opensslMissing } from '../../kube/testing/certificates.ts'
import type { Clock } from '../../ports/clock.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../../kube/testing/temporary-folder.ts'
import { until } from '../../kube/testing/until.ts'
import { LARGEST_DOCUMENT_BYTES, type SourceFault } from './look.ts'
import { openRules } from './open-rules.ts'
import { ruleDocument } from './testing/document.ts'
import { type DocumentServer, startDocumentServer } from './testing/document-server.ts'
import { open, type OpenedRules } from './testing/open.ts'

let folder: TemporaryFolder
let opened: OpenedRules | undefined
let server: DocumentServer

beforeEach(() => {
  folder = makeTemporaryFolder()
})
afterEach(async () => {
  await opened?.close()
  await server.close()
  folder.remove()
})

function openUrl({ url = server.url, ...options }: Partial<Parameters<typeof open>[0]> & { url?: string } = {}): OpenedRules {
  return (opened = open({ from: { is: 'url', url }, ...options }))
}

function faultOf(rules: OpenedRules): SourceFault | undefined {
  const problem = rules.source.problem()
  return problem?.code === 'source-away' ? problem.fault : undefined
}

const conditionalRequests = (): number => server.seen.filter(({ headers }) => headers['if-none-match'] !== undefined).length

/** Retries at once, without a random part. */
const eager = { random: { next: () => 0 } }

/** A clock that stands. Each pause between two requests lasts until the test ends it, by some time on the clock. */
function heldPauses() {
  let now = 0
  let held: { callback: () => void; delayMs: number } | undefined
  const clock: Clock = {
    now: () => now,
    wallNow: () => now,
    setTimeout: (callback, delayMs) => (held = { callback, delayMs }),
    clearTimeout(handle) {
      if (held === handle) held = undefined
    },
  }
  return {
    clock,
    /** Resolves at the next pause, or at once within one. Returns its length. */
    async next(): Promise<number> {
      await until(() => held !== undefined)
      return held!.delayMs
    },
    end(afterMs?: number): void {
      now += afterMs ?? held!.delayMs
      held!.callback()
    },
  }
}

describe('over plain HTTP on loopback', () => {
  beforeEach(async () => {
    server = await startDocumentServer()
    server.publish(ruleDocument(1))
  })

  test('a document is read once, and asked for by its ETag from then on', async () => {
    const rules = openUrl()
    await rules.untilVersion('1')
    await until(() => (server.answered.get(304) ?? 0) >= 5)
    expect(server.answered.get(200)).toBe(1)
    server.publish(ruleDocument(2))
    await rules.untilVersion('2')
    expect(server.answered.get(200)).toBe(2)
    expect(rules.changes.map(({ code }) => code)).toEqual(['rules-accepted', 'rules-accepted'])
    expect(rules.source.state().unconfirmedMs).toBeLessThan(5_000)
  })

  test('a refused document is not asked for again, and stays the problem until another one comes', async () => {
    const rules = openUrl()
    await rules.untilVersion('1')
    server.publish('kind: Something\nrules: []\n')
    await rules.untilProblem('document-refused')
    const answered = server.answered.get(304) ?? 0
    await until(() => (server.answered.get(304) ?? 0) >= answered + 5)
    expect(server.answered.get(200)).toBe(2)
    expect(rules.version()).toBe('1')
    server.publish(ruleDocument(2))
    await rules.untilVersion('2')
    expect(rules.changes.map(({ code }) => code)).toEqual([
      'rules-accepted',
      'rules-problem',
      'rules-accepted',
      'rules-problem-over',
    ])
  })

  test.each<[string, Parameters<DocumentServer['answerBy']>[0], SourceFault['code']]>([
    ['a redirect', (_, response) => void response.writeHead(302, { location: '/elsewhere' }).end(), 'redirect'],
    ['a failure', (_, response) => void response.writeHead(500).end('no'), 'status'],
    ['a refusal', (_, response) => void response.writeHead(401).end('no'), 'status'],
    ['no content', (_, response) => void response.writeHead(204).end(), 'status'],
    ['a 304 that nothing asked for', (_, response) => void response.writeHead(304).end(), 'status'],
    [
      'a compressed answer',
      (_, response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(ruleDocument(9))),
      'encoded',
    ],
    ['a closed connection', (_, _response, socket) => void socket.destroy(), 'no-answer'],
    [
      'an answer that breaks off',
      (_, response, socket) => {
        response.writeHead(200, { 'content-length': '1000' })
        response.write(ruleDocument(9), () => socket.destroy())
      },
      'no-answer',
    ],
    ['an answer that does not end', (_, response) => void response.writeHead(200).write(ruleDocument(9)), 'timeout'],
    ['no answer at all', () => {}, 'timeout'],
  ])('%s keeps the rules in force, until the server is well again', async (_, handler, code) => {
    // Without an ETag, since the server could otherwise answer 304.
    await server.close()
    server = await startDocumentServer({ etag: false })
    server.publish(ruleDocument(1))
    const rules = openUrl({ ...eager, http: { timeoutMs: 200 } })
    await rules.untilVersion('1')
    server.answerBy(handler)
    await until(() => faultOf(rules)?.code === code)
    expect(rules.version()).toBe('1')
    expect(server.seen.every(({ url }) => url === '/')).toBe(true)
    server.publish(ruleDocument(2))
    server.answerBy(undefined)
    await rules.untilVersion('2')
    expect(rules.problemCode()).toBeUndefined()
  })

  test('a document that is gone keeps the rules in force', async () => {
    const rules = openUrl()
    await rules.untilVersion('1')
    server.answerBy((_, response) => void response.writeHead(404).end('config data not exist'))
    await rules.untilProblem('document-missing')
    expect(rules.source.problem()).toMatchObject({ lacks: 'document' })
    expect(rules.version()).toBe('1')
  })

  test('a document without an end is read up to the limit', async () => {
    const rules = openUrl()
    await rules.untilVersion('1')
    const part = Buffer.alloc(1 << 16, '#')
    let written = 0
    server.answerBy((_, response) => {
      response.writeHead(200)
      const more = (): void => {
        if (response.destroyed) return
        written += part.length
        response.write(part, more)
      }
      more()
    })
    await rules.untilProblem('document-too-large')
    expect(rules.version()).toBe('1')
    server.answerBy(undefined)
    await rules.untilProblem(undefined)
    expect(written).toBeLessThan(LARGEST_DOCUMENT_BYTES * 16)
  })

  test('the text in a JSON answer is the document where a field names it', async () => {
    const answer = (text: unknown): string => JSON.stringify({ code: 0, data: { content: text, md5: 'x' } })
    server.publish(answer(ruleDocument(1)))
    const rules = openUrl({ ...eager, http: { field: '/data/content' } })
    await rules.untilVersion('1')
    for (const wrong of [answer(7), '{"code":0,"data":null}', '<html>']) {
      server.publish(wrong)
      await until(() => faultOf(rules)?.code === 'no-field')
      server.publish(answer(ruleDocument(1)))
      await rules.untilProblem(undefined)
    }
    server.publish(answer(ruleDocument(2)))
    await rules.untilVersion('2')
    expect(rules.changes.filter(({ code }) => code === 'rules-accepted')).toHaveLength(2)
  })

  test('a token is read for each request, and an unusable file is named', async () => {
    const bearerFile = folder.write('token', 'first\n')
    server.answerBy(({ headers }, response) =>
      headers.authorization === 'Bearer second' ? response.end(ruleDocument(2)) : response.writeHead(401).end(),
    )
    const rules = openUrl({ ...eager, http: { bearerFile } })
    await until(() => faultOf(rules)?.code === 'status')
    folder.write('token', '')
    await until(() => faultOf(rules)?.code === 'credential')
    expect(faultOf(rules)).toMatchObject({ file: bearerFile })
    folder.write('token', 'second\n')
    await rules.untilVersion('2')
  })

  test('a user and a password go as basic authentication', async () => {
    const basicFile = folder.write('password', 'reader:a:b\n')
    server.answerBy(({ headers }, response) =>
      headers.authorization === `Basic ${Buffer.from('reader:a:b').toString('base64')}`
        ? response.end(ruleDocument(1))
        : response.writeHead(401).end(),
    )
    const rules = openUrl({ ...eager, http: { basicFile } })
    await rules.untilVersion('1')
    expect(rules.problemCode()).toBeUndefined()
  })

  test('the signal ends a request under way', async () => {
    server.answerBy(() => {})
    const rules = openUrl()
    await until(() => server.seen.length > 0)
    await rules.close()
    await rules.source.settled
    expect(rules.changes).toEqual([])
  })

  test('requests back off while the server is away, and the pauses are random', async () => {
    const pauses = heldPauses()
    server.answerBy((_, response) => void response.writeHead(503).end())
    openUrl({ clock: pauses.clock, random: { next: () => 0.5 }, everyMs: 10_000, http: { timeoutMs: 60_000 } })
    for (const wanted of [750, 1500, 3000, 6000, 12_000, 24_000, 45_000, 45_000, 45_000]) {
      expect(await pauses.next()).toBe(wanted)
      pauses.end()
    }
    expect(await pauses.next()).toBe(45_000)
    server.answerBy((_, response) => void response.writeHead(429, { 'retry-after': '50' }).end())
    pauses.end()
    expect(await pauses.next()).toBe(50_000)
    server.answerBy(undefined)
    pauses.end()
    expect(await pauses.next()).toBe(10_000)
    expect(server.seen).toHaveLength(12)
  })

  test('an ETag that stays where the document changes is found by a request for the whole, told once, and not used again', async () => {
    let document = ruleDocument(1)
    server.answerBy(({ headers }, response) => {
      if (headers['if-none-match'] === '"same"') return void response.writeHead(304).end()
      response.writeHead(200, { etag: '"same"' }).end(document)
    })
    const pauses = heldPauses()
    const rules = openUrl({ clock: pauses.clock, http: { wholeEveryMs: 600_000, timeoutMs: 60_000 } })
    await pauses.next()
    document = ruleDocument(2)
    pauses.end(599_999)
    await pauses.next()
    expect(conditionalRequests()).toBe(1)
    expect(rules.version()).toBe('1')
    pauses.end(1)
    await pauses.next()
    expect(rules.version()).toBe('2')
    document = ruleDocument(3)
    pauses.end()
    await pauses.next()
    expect(rules.version()).toBe('3')
    expect(conditionalRequests()).toBe(1)
    expect(rules.changes.map(({ code }) => code)).toEqual([
      'rules-accepted',
      'rules-etag-wrong',
      'rules-accepted',
      'rules-accepted',
    ])
  })

  test('a right ETag is used again after a request for the whole', async () => {
    const pauses = heldPauses()
    const rules = openUrl({ clock: pauses.clock, http: { wholeEveryMs: 600_000, timeoutMs: 60_000 } })
    for (let look = 0; look < 6; look += 1) {
      await pauses.next()
      pauses.end(300_000)
    }
    await pauses.next()
    expect([server.seen.length, conditionalRequests()]).toEqual([7, 3])
    expect(rules.changes.map(({ code }) => code)).toEqual(['rules-accepted'])
  })

  test('a source that shows two documents in turn is told once, both come into force, and the problem ends by itself', async () => {
    const pauses = heldPauses()
    const rules = openUrl({ clock: pauses.clock, http: { timeoutMs: 60_000 } })
    async function show(version: number, afterMs: number): Promise<void> {
      await pauses.next()
      server.publish(ruleDocument(version))
      pauses.end(afterMs)
      await pauses.next()
      expect(rules.version()).toBe(String(version))
    }
    await show(2, 10_000)
    // To take a change back is no flap.
    await show(1, 10_000)
    expect(rules.problemCode()).toBeUndefined()
    await show(3, 10_000)
    expect(rules.problemCode()).toBeUndefined()
    for (const version of [1, 3, 1, 3]) await show(version, 10_000)
    expect(rules.source.problem()).toMatchObject({
      code: 'rules-flap',
      documents: [{ version: '1' }, { version: '3' }],
    })
    expect(rules.source.state()).toMatchObject({ rules: { version: '3' }, from: 'source', unconfirmedMs: 0 })
    pauses.end(600_000)
    await pauses.next()
    expect(rules.problemCode()).toBeUndefined()
    expect(rules.changes.filter(({ code }) => code !== 'rules-accepted')).toEqual([
      { code: 'rules-problem', problem: expect.objectContaining({ code: 'rules-flap' }) },
      { code: 'rules-problem-over', version: '3' },
    ])
  })
})

describe.skipIf(opensslMissing)('over TLS', () => {
  let certificates: Certificates
  let others: Certificates
  beforeAll(() => {
    certificates = makeCertificates()
    others = makeCertificates()
  })
  beforeEach(async () => {
    server = await startDocumentServer({ certificates })
    server.publish(ruleDocument(1))
  })

  test('the pinned authority is trusted, and one that takes its place without a restart', async () => {
    const caFile = folder.write('ca.pem', certificates.ca)
    const rules = openUrl({ ...eager, http: { caFile } })
    await rules.untilVersion('1')
    folder.write('ca.pem', others.ca)
    await until(() => faultOf(rules)?.code === 'distrusted')
    server.publish(ruleDocument(2))
    folder.write('ca.pem', 'no certificate')
    await until(() => faultOf(rules)?.code === 'credential')
    expect(rules.version()).toBe('1')
    folder.write('ca.pem', certificates.ca)
    await rules.untilVersion('2')
  })

  test('a server that no trusted authority vouches for is refused, also with NODE_TLS_REJECT_UNAUTHORIZED=0', async () => {
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
    try {
      const rules = openUrl(eager)
      await until(() => faultOf(rules)?.code === 'distrusted')
      expect(rules.version()).toBeUndefined()
      expect(server.seen).toHaveLength(0)
    } finally {
      delete process.env['NODE_TLS_REJECT_UNAUTHORIZED']
    }
  })

  test('a certificate of another name is refused', async () => {
    await server.close()
    server = await startDocumentServer({ tls: { certificates, identity: certificates.misnamed } })
    const rules = openUrl({ ...eager, http: { caFile: folder.write('ca.pem', certificates.ca) } })
    await until(() => faultOf(rules)?.code === 'distrusted')
    expect(server.seen).toHaveLength(0)
  })
})

describe('settings', () => {
  beforeEach(async () => {
    server = await startDocumentServer()
  })

  test.each<[string, string, object]>([
    ['Rules come from another host over plain HTTP only with a signature', 'http://rules.example/', {}],
    ['A token or a password does not go to another host over plain HTTP', 'http://rules.example/', { bearerFile: 'token' }],
    ['not both', 'https://rules.example/', { bearerFile: 'token', basicFile: 'password' }],
    ['is no JSON pointer', 'https://rules.example/', { field: 'data.content' }],
  ])('are refused: %s', (message, url, http) => {
    const ending = new AbortController()
    const options = { clock: { ...performance }, random: Math, signal: ending.signal } as never
    expect(() => openRules({ ...(options as object), from: { is: 'url', url }, http } as never)).toThrow(message)
  })
})
