/** The signature of a document: its last line, a comment. */
import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { readBounded } from '../../config/read-bounded.ts'
import { RulesFromError } from './rules-from.ts'

const LIMITS = { largestBytes: 1 << 16, pipeDeadlineMs: 1000, what: 'a file of public keys' }
const LAST_LINE = /^# signature: ed25519 ([A-Za-z0-9+/]{86}==)[ \t]*$/
const PEM_BLOCK = /-----BEGIN [^-]+-----[^-]+-----END [^-]+-----/g
const NEWLINE = 0x0a
/** A signature has 64 bytes. A last line of more bytes is no signature. */
const LONGEST_LINE_BYTES = 256

/**
 * Reads Ed25519 public keys in PEM. During a change of keys, the file has the old one and the new one.
 * @throws RulesFromError
 */
export async function readSignatureKeys(file: string): Promise<KeyObject[]> {
  const bytes = await readBounded(file, LIMITS).catch((error: unknown) => {
    throw new RulesFromError(`Cannot read ${file}: ${(error as Error).message}`, { cause: error })
  })
  if (!(bytes instanceof Uint8Array)) throw new RulesFromError(`${file} ${bytes.message}`)
  const blocks = Buffer.from(bytes).toString('utf8').match(PEM_BLOCK) ?? []
  if (blocks.length === 0) throw new RulesFromError(`${file} holds no public key in PEM`)
  return blocks.map((pem) => parseKey(file, pem))
}

function parseKey(file: string, pem: string): KeyObject {
  if (/PRIVATE KEY/.test(pem))
    throw new RulesFromError(`${file} holds a private key: write the public one, as openssl pkey -pubout prints it`)
  let key: KeyObject
  try {
    key = createPublicKey(pem)
  } catch (error) {
    throw new RulesFromError(`${file} holds a block that is no public key`, { cause: error })
  }
  if (key.asymmetricKeyType !== 'ed25519')
    throw new RulesFromError(`${file} holds a key of type ${key.asymmetricKeyType}: a signature needs ed25519`)
  return key
}

/** Checks that the last line is a signature by one of the keys over all bytes before that line. */
export function checkSignature(bytes: Uint8Array, keys: readonly KeyObject[]): 'right' | 'none' | 'wrong' {
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const end = whole.at(-1) === NEWLINE ? whole.length - 1 : whole.length
  const begin = whole.lastIndexOf(NEWLINE, end - 1) + 1
  if (begin === 0 || end - begin > LONGEST_LINE_BYTES) return 'none'
  const written = LAST_LINE.exec(whole.toString('latin1', begin, end))?.[1]
  if (written === undefined) return 'none'
  const signature = Buffer.from(written, 'base64')
  const signed = whole.subarray(0, begin)
  return keys.some((key) => verify(null, signed, key, signature)) ? 'right' : 'wrong'
}
