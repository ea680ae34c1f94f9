import { refusal } from '../api-server/refusal.ts'

/*
 * kubectl sends JSON, except for a few objects that it makes itself: `auth can-i`, `create namespace`, `create configmap`. These come as
 * protobuf. This reader knows the fields that kubectl fills in.
 */

export const PROTOBUF = 'application/vnd.kubernetes.protobuf'

/** The fields of a message by their numbers: the name, and the content of a field that is no string. */
type Fields = Record<number, readonly [name: string, content?: Fields | 'map']>

const METADATA: Fields = { 1: ['name'], 3: ['namespace'], 11: ['labels', 'map'], 12: ['annotations', 'map'] }
const RESOURCE: Fields = {
  1: ['namespace'],
  2: ['verb'],
  3: ['group'],
  4: ['version'],
  5: ['resource'],
  6: ['subresource'],
  7: ['name'],
}
const ACCESS: Fields = { 1: ['resourceAttributes', RESOURCE], 2: ['nonResourceAttributes', { 1: ['path'], 2: ['verb'] }] }
const KINDS: Record<string, Fields> = {
  SelfSubjectAccessReview: { 2: ['spec', ACCESS] },
  SelfSubjectRulesReview: { 2: ['spec', { 1: ['namespace'] }] },
  Namespace: { 1: ['metadata', METADATA] },
  ConfigMap: { 1: ['metadata', METADATA], 2: ['data', 'map'] },
}
const ENTRY: Fields = { 1: ['key'], 2: ['value'] }
const ENVELOPE: Fields = { 1: ['type', { 1: ['apiVersion'], 2: ['kind'] }] }
const MAGIC = Buffer.from('k8s\0')
const CONTENT = 2
const BYTES = 2

/** Returns the object in a body as JSON. @throws Refusal 415 for other kinds */
export function jsonOf(body: Buffer): string {
  if (!body.subarray(0, MAGIC.length).equals(MAGIC)) throw unreadable('an object without its envelope')
  const envelope = body.subarray(MAGIC.length)
  const { apiVersion, kind } = read(envelope, ENVELOPE)['type'] as Record<string, string>
  const fields = KINDS[kind ?? '']
  if (fields === undefined) throw unreadable(`a ${kind}`)
  const content = [...fieldsOf(envelope)].find(({ number }) => number === CONTENT)?.bytes ?? Buffer.alloc(0)
  return JSON.stringify({ apiVersion, kind, ...read(content, fields) })
}

function unreadable(what: string): Error {
  const message = `the embedded cluster does not read ${what} as ${PROTOBUF}: send JSON, as kubectl apply and create -f do`
  return refusal(415, 'UnsupportedMediaType', message)
}

function read(message: Buffer, fields: Fields): Record<string, unknown> {
  const result: Record<string, unknown> = {}
  for (const { number, bytes } of fieldsOf(message)) {
    const [name, content] = fields[number] ?? []
    // An empty field was not set.
    if (name === undefined || bytes.length === 0) continue
    if (content === 'map') {
      const { key, value = '' } = read(bytes, ENTRY) as Record<string, string>
      result[name] = { ...(result[name] as object | undefined), [key ?? '']: value }
    } else result[name] = content === undefined ? bytes.toString('utf8') : read(bytes, content)
  }
  return result
}

/** Yields the fields that have a length: strings and messages. Numbers are skipped. */
function* fieldsOf(message: Buffer): Generator<{ number: number; bytes: Buffer }> {
  let at = 0
  function varint(): number {
    let value = 0
    for (let scale = 1; at < message.length; scale *= 128) {
      const byte = message[at++]!
      value += (byte & 127) * scale
      if (byte < 128) break
    }
    return value
  }
  while (at < message.length) {
    const tag = varint()
    const length = varint()
    if (tag % 8 === 0) continue
    if (tag % 8 !== BYTES) throw unreadable('fields of another type')
    yield { number: Math.floor(tag / 8), bytes: message.subarray(at, at + length) }
    at += length
  }
}
