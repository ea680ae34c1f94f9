import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'

/** A document with its signature as its last line. */
export function signed(text: string, privateKey: KeyObject): string {
  return `${text}# signature: ed25519 ${sign(null, Buffer.from(text), privateKey).toString('base64')}\n`
}

export function makeKeys(): { publicKey: KeyObject; privateKey: KeyObject; publicPem: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  return { publicKey, privateKey, publicPem: publicKey.export({ type: 'spki', format: 'pem' }) as string }
}
