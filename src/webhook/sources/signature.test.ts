import { generateKeyPairSync } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { makeTemporaryFolder, type TemporaryFolder } from '../../kube/testing/temporary-folder.ts'
import { until } from '../../kube/testing/until.ts'
import { checkSignature, readSignatureKeys } from './signature.ts'
import { ruleDocument } from './testing/document.ts'
import { startDocumentServer } from './testing/document-server.ts'
import { open, type OpenedRules } from './testing/open.ts'
import { makeKeys, signed } from './testing/signing.ts'

let folder: TemporaryFolder
let opened: OpenedRules | undefined
const own = makeKeys()
const other = makeKeys()

beforeEach(() => {
  folder = makeTemporaryFolder()
})
afterEach(async () => {
  await opened?.close()
  opened = undefined
  folder.remove()
})

function replace(text: string): string {
  const file = join(folder.path, 'rules.yaml')
  renameSync(folder.write('rules.next', text), file)
  return file
}

/** The cache without its first line. */
function documentIn(cacheFile: string): string {
  const text = readFileSync(cacheFile, 'utf8')
  return text.slice(text.indexOf('\n') + 1)
}

async function reopen(options: Partial<Parameters<typeof open>[0]> = {}): Promise<OpenedRules> {
  await opened?.close()
  return (opened = open({ from: { is: 'file', path: join(folder.path, 'rules.yaml') }, ...options }))
}

describe('the last line', () => {
  const text = ruleDocument(1)
  const keys = [own.publicKey]

  test.each<[string, string, 'right' | 'none' | 'wrong']>([
    ['is a signature of the bytes before it', signed(text, own.privateKey), 'right'],
    ['has no end of line', signed(text, own.privateKey).trimEnd(), 'right'],
    ['is by another key', signed(text, other.privateKey), 'wrong'],
    ['is over other bytes', `${ruleDocument(2)}${signed(text, own.privateKey).slice(text.length)}`, 'wrong'],
    ['is followed by more', `${signed(text, own.privateKey)}rules: []\n`, 'none'],
    ['is followed by an empty line', `${signed(text, own.privateKey)}\n`, 'none'],
    ['is missing', text, 'none'],
    ['is all there is', signed('', own.privateKey), 'none'],
    ['is cut off', signed(text, own.privateKey).slice(0, -10), 'none'],
    ['follows changed ends of lines', signed(text, own.privateKey).replaceAll('\n', '\r\n'), 'none'],
  ])('%s', (_, document, expected) => {
    expect(checkSignature(Buffer.from(document), keys)).toBe(expected)
  })

  test('each changed byte before it makes it wrong', () => {
    const bytes = Buffer.from(signed(text, own.privateKey))
    for (let index = 0; index < text.length; index += 1) {
      const changed = Buffer.from(bytes)
      changed[index]! ^= 1
      expect(checkSignature(changed, keys)).not.toBe('right')
    }
  })

  test('may be by the old or the new key during a change of keys', async () => {
    const found = await readSignatureKeys(folder.write('keys.pem', own.publicPem + other.publicPem))
    expect([own, other].map(({ privateKey }) => checkSignature(Buffer.from(signed(text, privateKey)), found))).toEqual([
      'right',
      'right',
    ])
  })
})

test.each<[string, string]>([
  ['holds no public key', 'nothing'],
  ['holds a private key', own.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string],
  [
    'holds a key of type rsa',
    generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ type: 'spki', format: 'pem' }) as string,
  ],
  ['holds a block that is no public key', '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n'],
])('a file of keys that %s is refused', async (message, text) => {
  await expect(readSignatureKeys(folder.write('keys.pem', text))).rejects.toThrow(message)
})

describe('signed rules', () => {
  const signatureKeys = [own.publicKey]
  const sign = (version: number | string, count?: number): string => signed(ruleDocument(version, count), own.privateKey)

  test('only signed documents of growing numbers come into force', async () => {
    replace(ruleDocument(5))
    const rules = await reopen({ signatureKeys })
    const untilRefused = (because: string): Promise<void> =>
      until(() => {
        const problem = rules.source.problem()
        return problem?.code === 'signature-refused' && problem.because === because
      })
    await untilRefused('none')
    expect(rules.version()).toBeUndefined()
    replace(sign(5))
    await rules.untilVersion('5')
    replace(signed(ruleDocument(6), other.privateKey))
    await untilRefused('wrong')
    replace(sign(4))
    await untilRefused('older')
    replace(sign(5, 2))
    await untilRefused('reused')
    replace(sign('2026-11-30'))
    await untilRefused('unnumbered')
    expect(rules.source.current()).toMatchObject({ version: '5', rules: [{}] })
    replace(sign(5))
    await rules.untilProblem(undefined)
    replace(sign(10))
    await rules.untilVersion('10')
  })

  test('a document without a signature is accepted where no key is given', async () => {
    replace(sign(5))
    const rules = await reopen()
    await rules.untilVersion('5')
    replace(ruleDocument(4))
    await rules.untilVersion('4')
    expect(rules.changes).toHaveLength(2)
  })

  test('with a cache, an older document is refused after a restart too; without one, it is not', async () => {
    const cacheFile = join(folder.path, 'cache', 'rules.yaml')
    mkdirSync(join(folder.path, 'cache'))
    replace(sign(7))
    const first = await reopen({ signatureKeys, cacheFile })
    await first.untilVersion('7')
    await until(() => existsSync(cacheFile))
    replace(sign(6))
    const second = await reopen({ signatureKeys, cacheFile })
    await second.untilProblem('signature-refused')
    expect(second.source.problem()).toMatchObject({ because: 'older' })
    expect(second.source.state()).toMatchObject({ rules: { version: '7' }, from: 'cache' })
    const third = await reopen({ signatureKeys })
    await third.untilVersion('6')
  })

  test('a cache whose document somebody has changed counts for nothing', async () => {
    const cacheFile = join(folder.path, 'cache.yaml')
    replace(sign(7))
    const first = await reopen({ signatureKeys, cacheFile })
    await until(() => existsSync(cacheFile))
    await first.close()
    rmSync(join(folder.path, 'rules.yaml'))
    writeFileSync(cacheFile, readFileSync(cacheFile, 'utf8').replace('notReady', 'ready'))
    const rules = await reopen({ signatureKeys, cacheFile })
    await until(() => rules.changes.length > 0)
    expect(rules.changes[0]).toMatchObject({ problem: { code: 'cache-refused', because: { because: 'wrong' } } })
    expect(rules.version()).toBeUndefined()
  })
})

describe('the cache', () => {
  test('has the exact bytes of the last accepted document, for the owner alone, and serves while the source is away', async () => {
    const cacheFile = join(folder.path, 'cache.yaml')
    replace(ruleDocument(1))
    const first = await reopen({ cacheFile })
    await first.untilVersion('1')
    replace(ruleDocument(2))
    await first.untilVersion('2')
    replace('kind: Wrong\nrules: []\n')
    await first.untilProblem('document-refused')
    await first.close()
    expect(documentIn(cacheFile)).toBe(ruleDocument(2))
    expect(statSync(cacheFile).mode & 0o777).toBe(0o600)

    rmSync(join(folder.path, 'rules.yaml'))
    const second = await reopen({ cacheFile })
    await second.source.settled
    expect(second.source.state()).toMatchObject({ rules: { version: '2' }, from: 'cache', problem: { code: 'document-missing' } })
    const cached = second.source.current()
    replace(ruleDocument(2))
    await second.untilProblem(undefined)
    expect(second.source.state().from).toBe('source')
    expect(second.source.current()).toBe(cached)
  })

  test('that is cut off or cannot be written is told, and the rules of the source count', async () => {
    mkdirSync(join(folder.path, 'cache'))
    const cacheFile = join(folder.path, 'cache', 'rules.yaml')
    replace(ruleDocument(1))
    const first = await reopen({ cacheFile })
    await until(() => existsSync(cacheFile))
    await first.close()
    truncateSync(cacheFile, statSync(cacheFile).size - 20)
    replace(ruleDocument(2))
    const rules = await reopen({ cacheFile })
    await rules.untilVersion('2')
    await rules.untilProblem(undefined)
    expect(rules.changes[0]).toMatchObject({ problem: { code: 'cache-refused' } })
    expect(documentIn(cacheFile)).toBe(ruleDocument(2))

    rmSync(join(folder.path, 'cache'), { recursive: true })
    replace(ruleDocument(3))
    await rules.untilVersion('3')
    await rules.untilProblem('cache-unusable')
    mkdirSync(join(folder.path, 'cache'))
    replace(ruleDocument(4))
    await rules.untilProblem(undefined)
    expect(documentIn(cacheFile)).toBe(ruleDocument(4))
  })

  test('of another source counts for nothing, is told, and is replaced by the first document of the new source', async () => {
    const cacheFile = join(folder.path, 'cache.yaml')
    replace(ruleDocument(1))
    const first = await reopen({ cacheFile })
    await first.untilVersion('1')
    await until(() => existsSync(cacheFile))

    const otherFile = join(folder.path, 'other.yaml')
    const second = await reopen({ from: { is: 'file', path: otherFile }, cacheFile })
    await second.source.settled
    expect(second.version()).toBeUndefined()
    const foreign = { code: 'cache-foreign', of: join(folder.path, 'rules.yaml') }
    expect(second.changes[0]).toEqual({ code: 'rules-problem', problem: foreign })
    folder.write('other.yaml', ruleDocument(2))
    await second.untilProblem(undefined)
    await second.close()
    rmSync(otherFile)
    const third = await reopen({ from: { is: 'file', path: otherFile }, cacheFile })
    await third.source.settled
    expect(third.source.state()).toMatchObject({ rules: { version: '2' }, from: 'cache' })
  })

  test('of a URL with another query is foreign, names no query, and a file without the name of a source is foreign', async () => {
    const cacheFile = join(folder.path, 'cache.yaml')
    const documents = await startDocumentServer()
    try {
      documents.publish(ruleDocument(1))
      const first = await reopen({ from: { is: 'url', url: `${documents.url}/?dataId=a&token=secret` }, cacheFile })
      await until(() => existsSync(cacheFile))
      await first.close()
      expect(readFileSync(cacheFile, 'utf8')).not.toContain('secret')
      documents.answerBy((_, response) => void response.writeHead(503).end())
      const second = await reopen({ from: { is: 'url', url: `${documents.url}/?dataId=b&token=secret` }, cacheFile })
      await second.source.settled
      expect(second.version()).toBeUndefined()
      expect(second.changes[0]).toEqual({ code: 'rules-problem', problem: { code: 'cache-foreign', of: `${documents.url}/` } })
      await second.close()

      writeFileSync(cacheFile, ruleDocument(1))
      const third = await reopen({ from: { is: 'url', url: documents.url }, cacheFile })
      await third.source.settled
      expect(third.version()).toBeUndefined()
      expect(third.changes[0]).toEqual({ code: 'rules-problem', problem: { code: 'cache-foreign', of: undefined } })
      await third.close()
    } finally {
      await documents.close()
    }
  })
})
