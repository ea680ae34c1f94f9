import { createHash, type KeyObject } from 'node:crypto'
import type { RuleSet } from '../rules/rule-set.ts'
import type { RulesProblem } from './rules-source.ts'
import { checkSignature } from './signature.ts'

/** A document that may come into force. */
export interface Accepted {
  readonly rules: RuleSet
  readonly bytes: Uint8Array
  readonly hash: string
}

export type Refused = Extract<RulesProblem, { code: 'document-refused' | 'signature-refused' }>

export interface Judgement {
  /** @throws an Error whose message tells the mistakes, a line each */
  parse(text: string): RuleSet
  /** Without keys, a document needs no signature, and may have any version. */
  keys: readonly KeyObject[] | undefined
  /** The document that was accepted last. */
  last: Accepted | undefined
}

/** A number that both a person and a program count up without an error. */
const NUMBER = /^(0|[1-9]\d{0,14})$/

export function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex').slice(0, 12)
}

/** Checks a document as a whole: its signature, its text, its rules, and that it is no older one than the last. */
export function judgeDocument(bytes: Uint8Array, { parse, keys, last }: Judgement): Accepted | Refused {
  const hash = hashOf(bytes)
  if (keys !== undefined) {
    const signature = checkSignature(bytes, keys)
    if (signature !== 'right') return { code: 'signature-refused', hash, because: signature }
  }
  let rules: RuleSet
  try {
    rules = parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (error) {
    return { code: 'document-refused', hash, mistakes: (error as Error).message.split('\n') }
  }
  const accepted = { rules, bytes, hash }
  if (keys === undefined) return accepted
  if (!NUMBER.test(rules.version)) return { code: 'signature-refused', hash, because: 'unnumbered' }
  if (last === undefined || last.hash === hash) return accepted
  const [number, lastNumber] = [Number(rules.version), Number(last.rules.version)]
  if (number < lastNumber) return { code: 'signature-refused', hash, because: 'older' }
  return number === lastNumber ? { code: 'signature-refused', hash, because: 'reused' } : accepted
}
